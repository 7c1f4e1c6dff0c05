import type { Category } from '../../domain/categories/category.entity.ts';
import { categoryRepresentation } from '../../domain/categories/category.version.ts';
import { maxBatchSize } from '../../domain/page.ts';
import type { Handlers } from '../handler.ts';
import type { Json } from '../json.ts';
import type { components } from '../openapi/types.ts';
import { collection, created, deleted, resource } from '../responses.ts';

/** A name of 255 and a description of 2,000 characters of 4 bytes. */
const maxCategoryBytes = 9_200;

const categoryBody: (row: Category) => Json<components['schemas']['Category']> = categoryRepresentation;

export const categoryRoutes = {
  listCategories: (call, { categories }) =>
    collection(call, (request) => categories.list(request, { maxSize: maxBatchSize }), categoryBody, maxCategoryBytes),

  createCategory: async (call, { categories }) => {
    const category = await categories.create(call.body);
    return created(call, category.id, categoryBody(category));
  },

  getCategory: async ({ path }, { categories }) => resource(categoryBody(await categories.get(path.categoryId))),

  updateCategory: async ({ path, body, precondition }, { categories }) =>
    resource(categoryBody(await categories.update(path.categoryId, body, { precondition }))),

  deleteCategory: async ({ path, precondition }, { categories }) => {
    await categories.delete(path.categoryId, precondition);
    return deleted;
  },
} satisfies Partial<Handlers>;
