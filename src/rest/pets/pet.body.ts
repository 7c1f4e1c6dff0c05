import type { Pet } from '../../domain/pets/pet.entity.ts';
import { jsonId, type Json } from '../json.ts';
import type { components } from '../openapi/types.ts';

export function petBody({ id, name, categoryId, status }: Pet): Json<components['schemas']['Pet']> {
  return { id: jsonId(id), name, categoryId: jsonId(categoryId), status };
}
