import { Field, ID, ObjectType } from 'type-graphql';

import type { Pet, PetStatus } from '../../domain/pets/pet.entity.ts';
import { connectionType } from '../connections/connection.type.ts';
import { common } from '../descriptions.ts';
import { registerEnum } from '../enum.ts';
import { NodeType } from '../node/node.type.ts';

export const PetStatusEnum = registerEnum<PetStatus>(
  'PetStatus',
  'The state of the sale of a pet. Any status may follow any other.',
  {
    available: 'For sale; the status of a new pet.',
    pending: 'Its sale is under way.',
    sold: 'It has been sold.',
  },
);

/** The fields that aren't properties of the row are in the resolver. */
@ObjectType('Pet', {
  description: 'An animal of the store. It always belongs to a category.',
  implements: NodeType,
})
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

export const PetConnectionType = connectionType<Pet>('Pet', () => PetType);

@ObjectType({ description: 'The result of `createPet`.' })
export class CreatePetPayload {
  @Field(() => PetType, { description: 'The new pet.' })
  pet!: Pet;
}

@ObjectType({ description: 'The result of `updatePet`.' })
export class UpdatePetPayload {
  @Field(() => PetType, { description: 'The pet as it is now.' })
  pet!: Pet;
}

@ObjectType({ description: 'The result of `deletePet`.' })
export class DeletePetPayload {
  @Field(() => ID, { description: 'The id of the deleted pet, whose inventory item is deleted too.' })
  deletedPetId!: string;
}
