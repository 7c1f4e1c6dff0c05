import type { Category } from '../../domain/categories/category.entity.ts';
import { jsonId, type Json } from '../json.ts';
import type { components } from '../openapi/types.ts';

export function categoryBody({ id, name, description }: Category): Json<components['schemas']['Category']> {
  return { id: jsonId(id), name, ...(description === null || description === undefined ? {} : { description }) };
}
