import { ArgsType, Field, ID, InputType } from 'type-graphql';

import type { FilterRequest } from '../../domain/filter.ts';
import type { SortFieldOf } from '../../domain/page.ts';
import type { PetStatus } from '../../domain/pets/pet.entity.ts';
import type { petList } from '../../domain/pets/pet.store.ts';
import { ConnectionArgs } from '../connections/connection.args.ts';
import { common } from '../descriptions.ts';
import { ConditionalInput } from '../safe-writes/conditional.input.ts';
import { DefaultsTo } from '../safe-writes/input-fingerprint.ts';
import { PetStatusEnum } from './pet.type.ts';

@InputType('PetFilter', { description: 'Which pets to list: those that match every given field.' })
class PetFilterInput implements FilterRequest<(typeof petList)['filter']> {
  @Field(() => [PetStatusEnum], {
    nullable: true,
    description: 'Has one of these statuses. An empty list matches nothing.',
  })
  statusIn?: PetStatus[] | null;

  @Field(() => [ID], {
    nullable: true,
    description: 'Belongs to one of these categories, at most 1,000. An empty list matches nothing.',
  })
  categoryIdIn?: string[] | null;

  @Field(() => String, { nullable: true, description: common.nameContains })
  nameContains?: string | null;
}

@ArgsType()
export class PetConnectionArgs extends ConnectionArgs<PetFilterInput, SortFieldOf<typeof petList>>(
  'Pet',
  PetFilterInput,
  {
    ID: common.byId,
    NAME: common.byName,
  },
) {}

@InputType({ description: 'A new pet.' })
export class CreatePetInput {
  @Field(() => String, { description: common.newName })
  name!: string;

  @Field(() => ID, { description: 'The category that it belongs to.' })
  categoryId!: string;

  @DefaultsTo('available')
  @Field(() => PetStatusEnum, { nullable: true, description: 'AVAILABLE by default.' })
  status?: PetStatus | null;
}

@InputType({ description: 'Changes of a pet: omitted fields stay unchanged. At least one is required.' })
export class UpdatePetInput extends ConditionalInput {
  @Field(() => ID, { description: 'The pet to change.' })
  id!: string;

  @Field(() => String, { nullable: true, description: common.changedName })
  name?: string | null;

  @Field(() => ID, {
    nullable: true,
    description: 'The category that it belongs to from now on; not null.',
  })
  categoryId?: string | null;

  @Field(() => PetStatusEnum, { nullable: true, description: 'A new status; not null.' })
  status?: PetStatus | null;
}

@InputType({ description: 'Which pet to delete.' })
export class DeletePetInput extends ConditionalInput {
  @Field(() => ID, { description: 'The pet to delete.' })
  id!: string;
}
