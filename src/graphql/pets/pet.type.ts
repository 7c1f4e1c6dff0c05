import { Field, ID } from 'type-graphql';

import type { Pet, PetStatus } from '../../domain/pets/pet.entity.ts';
import { registerEnum } from '../enum.ts';
import { common, nounInputs, nounList, NounType } from '../noun/noun.type.ts';

export const PetStatusEnum = registerEnum<PetStatus>(
  'PetStatus',
  'The state of the sale of a pet. Any status may follow any other.',
  {
    available: 'For sale; the status of a new pet.',
    pending: 'Its sale is under way.',
    sold: 'It has been sold.',
  },
);

@NounType('pet', 'An animal of the store. It always belongs to a category.')
export class PetType implements Pick<Pet, 'id' | 'name' | 'status' | 'categoryId'> {
  @Field(() => ID, { description: common.id })
  id!: Pet['id'];

  @Field(() => String, { description: 'What the animal is called.' })
  name!: string;

  @Field(() => PetStatusEnum, { description: 'The state of its sale.' })
  status!: PetStatus;

  @Field(() => ID, { description: 'The id of the category that it belongs to.' })
  categoryId!: Pet['categoryId'];
}

export const petList = nounList('pet', () => PetType, {
  filter: {
    statusIn: {
      type: () => [PetStatusEnum],
      description: 'Has one of these statuses. An empty list matches nothing.',
    },
    categoryIdIn: {
      type: () => [ID],
      description: 'Belongs to one of these categories, at most 1,000. An empty list matches nothing.',
    },
    nameContains: common.nameContains,
  },
  sorting: { ID: common.byId, NAME: common.byName },
});

export const petInputs = nounInputs('pet', {
  name: common.name,
  categoryId: {
    type: () => ID,
    created: 'The category that it belongs to.',
    changed: 'The category that it belongs to from now on; not null.',
  },
  status: { type: () => PetStatusEnum, created: 'AVAILABLE by default.', changed: 'A new status; not null.' },
});
