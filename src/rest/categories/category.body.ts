import type { Category } from '../../domain/categories/category.entity.ts';
import { categoryRepresentation } from '../../domain/categories/category.version.ts';
import type { Json } from '../json.ts';
import type { components } from '../openapi/types.ts';

/** A name of 255 and a description of 2,000 characters of 4 bytes. */
export const maxCategoryBytes = 9_200;

export const categoryBody: (row: Category) => Json<components['schemas']['Category']> = categoryRepresentation;
