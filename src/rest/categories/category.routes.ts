import { categoryRepresentation, type Category } from '../../domain/categories/category.entity.ts';
import { nouns } from '../../domain/nouns.ts';
import { maxBatchSize } from '../../domain/page.ts';
import type { Handlers } from '../handler.ts';
import type { Json } from '../json.ts';
import type { Schemas } from '../openapi/types.ts';
import { collection, created, deleted, resource } from '../responses.ts';

const { maxBytes } = nouns.category;
const categoryBody: (category: Category) => Json<Schemas['Category']> = categoryRepresentation;

export const categoryRoutes = {
  listCategories(call, { categories }) {
    return collection(call, (request) => categories.list(request, { maxSize: maxBatchSize }), categoryBody, maxBytes);
  },

  async createCategory(call, { categories }) {
    return created(call, 'category', await categories.create(call.body), categoryBody);
  },

  async getCategory({ path }, { categories }) {
    return resource(categoryBody(await categories.get(path.categoryId)));
  },

  async updateCategory({ path, body, precondition }, { categories }) {
    return resource(categoryBody(await categories.update(path.categoryId, body, { precondition })));
  },

  async deleteCategory({ path, precondition }, { categories }) {
    await categories.delete(path.categoryId, precondition);
    return deleted;
  },
} satisfies Partial<Handlers>;
