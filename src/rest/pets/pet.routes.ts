import { maxPageSize } from '../../domain/page.ts';
import type { Handlers } from '../handler.ts';
import { bodyOf } from '../noun.routes.ts';
import { page, selection } from '../responses.ts';

const petBody = bodyOf('pet');

export const petRoutes = {
  listPets: async (call, { pets }) => {
    const { id, limit, cursor: after, status } = call.query;
    if (id !== undefined) {
      return selection(call, await pets.pick(id, { first: limit ?? maxPageSize, after, status }), petBody);
    }
    const filter = { statusIn: status === undefined ? undefined : [status] };
    return page(call, await pets.list({ first: limit, after, filter }), petBody);
  },
} satisfies Partial<Handlers>;
