import { encodeCursor } from '../../src/domain/cursor.ts';
import type { Id } from '../../src/domain/id.ts';

/** A request as both servers are sent it. */
export interface LoadRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
}

export interface Workload {
  readonly name: string;
  readonly title: string;
  /** What the service is asked for this part of the store. */
  readonly service: (part: Part) => LoadRequest;
  /** What the limit is asked for the same answer. */
  readonly limit: (part: Part) => LoadRequest;
  readonly isWrite: boolean;
}

/** The ids of pets and of categories run from 1 to these. */
export interface StoreSize {
  readonly pets: number;
  readonly categories: number;
}

/** What varies from request to request. */
export interface Part {
  readonly petId: string;
  readonly newPet: { readonly name: string; readonly categoryId: string };
}

/** So many pets at the end are never asked for, so that every page is full. */
const pageRoom = 1000;

export const smallestStore = 2 * pageRoom;

/** The part that a number stands for: they spread evenly over the whole store, far from each other. */
export function partOf({ pets, categories }: StoreSize, n: number): Part {
  return {
    petId: String(1 + ((n * 7919) % (pets - pageRoom))),
    newPet: { name: `${newPetPrefix}${n}`, categoryId: String(1 + (n % categories)) },
  };
}

/** By which the pets are known that the workloads have added. */
export const newPetPrefix = 'Bench ';

const g1 = `query ($after: String) { pets(first: 20, after: $after) {
  edges { node { id name status category { id name description } } } } }`;
const g2 = `query ($id: ID!) { pet(id: $id) { id name status category { id name } inventory { quantity status } } }`;
const g3 = `{ categories(first: 5) { edges { node { id name pets(first: 10) {
  edges { node { id name status inventory { quantity status } } } } } } } }`;
const g4 = `mutation ($input: CreatePetInput!) { createPet(input: $input) { pet { id name status category { name } } } }`;

/** The seven of the specification. */
export const workloads: readonly Workload[] = [
  {
    name: 'G1',
    title: 'a page of 20 pets with their categories',
    service: ({ petId }) => graphql(g1, { after: cursorAt(petId) }),
    limit: ({ petId }) => ({ method: 'GET', path: `/g1?${petId}` }),
    isWrite: false,
  },
  {
    name: 'G2',
    title: 'one pet with category and stock',
    service: ({ petId }) => graphql(g2, { id: petId }),
    limit: ({ petId }) => ({ method: 'GET', path: `/g2?${petId}` }),
    isWrite: false,
  },
  {
    name: 'G3',
    title: 'five categories, ten pets each, with stock',
    service: () => graphql(g3),
    limit: () => ({ method: 'GET', path: '/g3?' }),
    isWrite: false,
  },
  {
    name: 'G4',
    title: 'createPet',
    service: ({ newPet }) => graphql(g4, { input: newPet }),
    limit: ({ newPet }) => ({ method: 'POST', path: '/g4?', body: JSON.stringify(newPet) }),
    isWrite: true,
  },
  {
    name: 'R1',
    title: 'GET /pets, a page of 20',
    service: ({ petId }) => ({ method: 'GET', path: `/pets?limit=20&status=available&cursor=${cursorAt(petId)}` }),
    limit: ({ petId }) => ({ method: 'GET', path: `/r1?${petId}` }),
    isWrite: false,
  },
  {
    name: 'R2',
    title: 'GET /pets/{petId}',
    service: ({ petId }) => ({ method: 'GET', path: `/pets/${petId}` }),
    limit: ({ petId }) => ({ method: 'GET', path: `/r2?${petId}` }),
    isWrite: false,
  },
  {
    name: 'R3',
    title: 'POST /pets',
    // REST's ids are numbers.
    service: ({ newPet: { name, categoryId } }) => ({
      method: 'POST',
      path: '/pets',
      body: JSON.stringify({ name, categoryId: Number(categoryId) }),
    }),
    limit: ({ newPet }) => ({ method: 'POST', path: '/r3?', body: JSON.stringify(newPet) }),
    isWrite: true,
  },
];

function graphql(query: string, variables?: object): LoadRequest {
  return { method: 'POST', path: '/graphql', body: JSON.stringify({ query, variables }) };
}

function cursorAt(id: string): string {
  const scope = { kind: 'pets', sortField: 'ID', valueType: undefined };
  return encodeCursor(scope, { value: null, id: id as Id });
}
