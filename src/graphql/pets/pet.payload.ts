import { Field, ID, ObjectType } from 'type-graphql';

import type { Pet } from '../../domain/pets/pet.entity.ts';
import { PetType } from './pet.type.ts';

@ObjectType('CreatePetPayload', { description: 'The result of `createPet`.', simpleResolvers: true })
export class CreatePetPayload {
  @Field(() => PetType, { description: 'The new pet.' })
  pet!: Pet;
}

@ObjectType('UpdatePetPayload', { description: 'The result of `updatePet`.', simpleResolvers: true })
export class UpdatePetPayload {
  @Field(() => PetType, { description: 'The pet as it is now.' })
  pet!: Pet;
}

@ObjectType('DeletePetPayload', { description: 'The result of `deletePet`.', simpleResolvers: true })
export class DeletePetPayload {
  @Field(() => ID, { description: 'The id of the deleted pet, whose inventory item is deleted too.' })
  deletedPetId!: string;
}
