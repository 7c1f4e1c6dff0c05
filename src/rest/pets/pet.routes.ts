import { petRepresentation, type Pet } from '../../domain/pets/pet.entity.ts';
import { maxPageSize } from '../../domain/page.ts';
import type { Handlers } from '../handler.ts';
import type { Json } from '../json.ts';
import type { Schemas } from '../openapi/types.ts';
import { created, deleted, page, resource, selection } from '../responses.ts';

const petBody: (pet: Pet) => Json<Schemas['Pet']> = petRepresentation;

export const petRoutes = {
  async listPets(call, { pets }) {
    const { id, limit, cursor: after, status } = call.query;
    if (id !== undefined) {
      return selection(call, await pets.pick(id, { first: limit ?? maxPageSize, after, status }), petBody);
    }
    const filter = { statusIn: status === undefined ? undefined : [status] };
    return page(call, await pets.list({ first: limit, after, filter }), petBody);
  },

  async createPet(call, { pets }) {
    return created(call, 'pet', await pets.create(call.body), petBody);
  },

  async getPet({ path }, { pets }) {
    return resource(petBody(await pets.get(path.petId)));
  },

  async updatePet({ path, body, precondition }, { pets }) {
    return resource(petBody(await pets.update(path.petId, body, { precondition })));
  },

  async deletePet({ path, precondition }, { pets }) {
    await pets.delete(path.petId, precondition);
    return deleted;
  },
} satisfies Partial<Handlers>;
