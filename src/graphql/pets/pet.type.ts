import { Field, ID, ObjectType } from 'type-graphql';

import type { Pet, PetStatus } from '../../domain/pets/pet.entity.ts';
import type { NewPet, PetChanges } from '../../domain/pets/pet.service.ts';
import type { petFilter, PetSortField } from '../../domain/pets/pet.store.ts';
import { connectionArgs } from '../connections/connection.args.ts';
import { connectionType } from '../connections/connection.type.ts';
import { registerEnum } from '../enum.ts';
import { NodeType } from '../node/node.type.ts';
import { CreateInput, FilterInput, RowToChange, descriptions, UpdateInput } from '../noun/noun.type.ts';
import { DefaultsTo } from '../safe-writes/input-fingerprint.ts';

export const PetStatusEnum = registerEnum<PetStatus>(
  'PetStatus',
  'The state of the sale of a pet. Any status may follow any other.',
  {
    available: 'For sale; the status of a new pet.',
    pending: 'Its sale is under way.',
    sold: 'It has been sold.',
  },
);

/** Its nested fields are in the resolver. */
@ObjectType('Pet', {
  description: 'An animal of the store. It always belongs to a category.',
  implements: NodeType,
  simpleResolvers: true,
})
export class PetType implements Pick<Pet, 'id' | 'name' | 'status' | 'categoryId'> {
  @Field(() => ID, { description: descriptions.id })
  id!: Pet['id'];

  @Field(() => String, { description: 'What the animal is called.' })
  name!: string;

  @Field(() => PetStatusEnum, { description: 'The state of its sale.' })
  status!: PetStatus;

  @Field(() => ID, { description: 'The id of the category that it belongs to.' })
  categoryId!: Pet['categoryId'];
}

export const PetConnectionType = connectionType<Pet>('Pet', () => PetType);

@CreateInput('Pet', 'pet')
export class CreatePetInput implements NewPet {
  @Field(() => String, { description: descriptions.name })
  name!: string;

  @Field(() => ID, { description: 'The category that it belongs to.' })
  categoryId!: string;

  @DefaultsTo('available' satisfies PetStatus)
  @Field(() => PetStatusEnum, { nullable: true, description: 'AVAILABLE by default.' })
  status?: PetStatus | null;
}

@UpdateInput('Pet', 'pet')
export class UpdatePetInput extends RowToChange('pet') implements PetChanges {
  @Field(() => String, { nullable: true, description: descriptions.newName })
  name?: string | null;

  @Field(() => ID, { nullable: true, description: 'The category that it belongs to from now on; not null.' })
  categoryId?: string | null;

  @Field(() => PetStatusEnum, { nullable: true, description: 'A new status; not null.' })
  status?: PetStatus | null;
}

@FilterInput<typeof petFilter>('Pet', 'pets')
class PetFilterInput {
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

  @Field(() => String, { nullable: true, description: descriptions.nameContains })
  nameContains?: string | null;
}

export const PetConnectionArgs = connectionArgs<PetSortField>('Pet', PetFilterInput, {
  ID: descriptions.byId,
  NAME: descriptions.byName,
});
