import type { GraphQLResolveInfo } from 'graphql';
import { Field, InputType } from 'type-graphql';

import type { UpdateOptions } from '../../domain/store.ts';
import { relationsOf } from '../relations.ts';

@InputType()
export abstract class ConditionalInput {
  @Field(() => String, {
    nullable: true,
    description:
      'The `version` that you have seen: when somebody else was faster, nothing is written and the field fails with PRECONDITION_FAILED. Omitted or null: no check.',
  })
  ifVersion?: string | null;
}

export function updateOptions<Relation extends string>(
  { ifVersion }: ConditionalInput,
  info: GraphQLResolveInfo,
): UpdateOptions<Relation> {
  return { precondition: ifVersion, include: relationsOf(info) };
}
