import type { GraphQLResolveInfo } from 'graphql';
import { Field, InputType } from 'type-graphql';

import type { UpdateOptions } from '../../domain/store.ts';
import { relationsOf } from '../relations.ts';

/** The input of a change or a deletion of a row: it may say in which state the row must be. */
@InputType()
export abstract class ConditionalInput {
  @Field(() => String, {
    nullable: true,
    description:
      'The `version` that you have seen: when somebody else was faster, nothing is written and the field fails with PRECONDITION_FAILED. Omitted or null: no check.',
  })
  ifVersion?: string | null;
}

/** How the service changes the row: in the state that the input names, and returned with the selected relations. */
export function updateOptions<Relation extends string>(
  { ifVersion }: ConditionalInput,
  info: GraphQLResolveInfo,
): UpdateOptions<Relation> {
  return { precondition: ifVersion, include: relationsOf(info) };
}
