import type { Pet } from '../../domain/pets/pet.entity.ts';
import { petRepresentation } from '../../domain/pets/pet.version.ts';
import type { Json } from '../json.ts';
import type { components } from '../openapi/types.ts';

export const petBody: (row: Pet) => Json<components['schemas']['Pet']> = petRepresentation;
