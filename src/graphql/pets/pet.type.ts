import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';

import type { Pet, PetStatus } from '../../domain/pets/pet.entity.ts';
import { connectionType } from '../connections/connection.type.ts';
import { NodeType } from '../node/node.type.ts';

export const PetStatusEnum = { AVAILABLE: 'available', PENDING: 'pending', SOLD: 'sold' } as const;
registerEnumType(PetStatusEnum, {
  name: 'PetStatus',
  description: 'The state of the sale of a pet. Any status may follow any other.',
  valuesConfig: {
    AVAILABLE: { description: 'For sale; the status of a new pet.' },
    PENDING: { description: 'Its sale is under way.' },
    SOLD: { description: 'It has been sold.' },
  },
});

/** Its nested fields are in the resolver. */
@ObjectType('Pet', {
  description: 'An animal of the store. It always belongs to a category.',
  implements: NodeType,
  simpleResolvers: true,
})
export class PetType implements Pick<Pet, 'id' | 'name' | 'status' | 'categoryId'> {
  @Field(() => ID, { description: 'Assigned on creation: an int64, the same digits as in REST.' })
  id!: Pet['id'];

  @Field(() => String, { description: 'What the animal is called.' })
  name!: string;

  @Field(() => PetStatusEnum, { description: 'The state of its sale.' })
  status!: PetStatus;

  @Field(() => ID, { description: 'The id of the category that it belongs to.' })
  categoryId!: Pet['categoryId'];
}

export const PetConnectionType = connectionType<Pet>('Pet', () => PetType);
