import { maxPageSize } from '../../domain/page.ts';
import type { Pet } from '../../domain/pets/pet.entity.ts';
import { petRepresentation } from '../../domain/pets/pet.version.ts';
import type { Handlers } from '../handler.ts';
import type { Json } from '../json.ts';
import type { components } from '../openapi/types.ts';
import { created, deleted, page, resource, selection } from '../responses.ts';

const petBody: (row: Pet) => Json<components['schemas']['Pet']> = petRepresentation;

export const petRoutes = {
  listPets: async (call, { pets }) => {
    const { id, limit, cursor: after, status } = call.query;
    if (id !== undefined) {
      return selection(call, await pets.pick(id, { first: limit ?? maxPageSize, after, status }), petBody);
    }
    const filter = { statusIn: status === undefined ? undefined : [status] };
    return page(call, await pets.list({ first: limit, after, filter }), petBody);
  },

  createPet: async (call, { pets }) => {
    const pet = await pets.create(call.body);
    return created(call, pet.id, petBody(pet));
  },

  getPet: async ({ path }, { pets }) => resource(petBody(await pets.get(path.petId))),

  updatePet: async ({ path, body, precondition }, { pets }) =>
    resource(petBody(await pets.update(path.petId, body, { precondition }))),

  deletePet: async ({ path, precondition }, { pets }) => {
    await pets.delete(path.petId, precondition);
    return deleted;
  },
} satisfies Partial<Handlers>;
