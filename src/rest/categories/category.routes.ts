import { maxBatchSize } from '../../domain/page.ts';
import { collection, created, deleted, resource } from '../responses.ts';
import { preconditionOf } from '../entity-tag.ts';
import type { Handlers } from '../handler.ts';
import { categoryBody, maxCategoryBytes } from './category.body.ts';

export const categoryRoutes = {
  listCategories: (call, { categories }) =>
    collection(call, (request) => categories.list(request, { maxSize: maxBatchSize }), categoryBody, maxCategoryBytes),

  createCategory: async (call, { categories }) => {
    const category = await categories.create(call.body);
    return created(call, category.id, categoryBody(category));
  },

  getCategory: async ({ path }, { categories }) => resource(categoryBody(await categories.get(path.categoryId))),

  updateCategory: async ({ path, body, ifMatch }, { categories }) =>
    resource(categoryBody(await categories.update(path.categoryId, body, { precondition: preconditionOf(ifMatch) }))),

  deleteCategory: async ({ path, ifMatch }, { categories }) => {
    await categories.delete(path.categoryId, preconditionOf(ifMatch));
    return deleted;
  },
} satisfies Partial<Handlers>;
