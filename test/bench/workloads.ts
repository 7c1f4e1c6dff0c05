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
  /** What the service is asked, for a number that varies from request to request. */
  readonly service: (n: number) => LoadRequest;
  /** What the limit is asked for the same answer. */
  readonly limit: (n: number) => LoadRequest;
  readonly isWrite: boolean;
}

export const storeSize = { pets: 100_000, categories: 50, orders: 20_000 } as const;

const g1 = `query ($after: String) { pets(first: 20, after: $after) {
  edges { node { id name status category { id name description } } } } }`;
const g2 = `query ($id: ID!) { pet(id: $id) { id name status category { id name } inventory { quantity status } } }`;
const g3 = `{ categories(first: 5) { edges { node { id name pets(first: 10) {
  edges { node { id name status inventory { quantity status } } } } } } } }`;
const g4 = `mutation ($input: CreatePetInput!) { createPet(input: $input) { pet { id name status category { name } } } }`;

/** The seven of the specification; the numbers spread over the whole store. */
export const workloads: readonly Workload[] = [
  {
    name: 'G1',
    title: 'a page of 20 pets with their categories',
    service: (n) => graphql(g1, { after: cursorAt(petId(n)) }),
    limit: (n) => ({ method: 'GET', path: `/g1?${petId(n)}` }),
    isWrite: false,
  },
  {
    name: 'G2',
    title: 'one pet with category and stock',
    service: (n) => graphql(g2, { id: petId(n) }),
    limit: (n) => ({ method: 'GET', path: `/g2?${petId(n)}` }),
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
    service: (n) => graphql(g4, { input: newPet(n) }),
    limit: (n) => ({ method: 'POST', path: '/g4?', body: JSON.stringify(newPet(n)) }),
    isWrite: true,
  },
  {
    name: 'R1',
    title: 'GET /pets, a page of 20',
    service: (n) => ({ method: 'GET', path: `/pets?limit=20&status=available&cursor=${cursorAt(petId(n))}` }),
    limit: (n) => ({ method: 'GET', path: `/r1?${petId(n)}` }),
    isWrite: false,
  },
  {
    name: 'R2',
    title: 'GET /pets/{petId}',
    service: (n) => ({ method: 'GET', path: `/pets/${petId(n)}` }),
    limit: (n) => ({ method: 'GET', path: `/r2?${petId(n)}` }),
    isWrite: false,
  },
  {
    name: 'R3',
    title: 'POST /pets',
    service: (n) => ({
      method: 'POST',
      path: '/pets',
      body: JSON.stringify({ ...newPet(n), categoryId: categoryId(n) }),
    }),
    limit: (n) => ({ method: 'POST', path: '/r3?', body: JSON.stringify(newPet(n)) }),
    isWrite: true,
  },
];

function graphql(query: string, variables?: object): LoadRequest {
  return { method: 'POST', path: '/graphql', body: JSON.stringify({ query, variables }) };
}

/** Spread evenly, and far from the end, so that every page is full. */
function petId(n: number): string {
  return String(1 + ((n * 7919) % (storeSize.pets - 1000)));
}

function categoryId(n: number): number {
  return 1 + (n % storeSize.categories);
}

function newPet(n: number): { name: string; categoryId: string } {
  return { name: `Bench ${n}`, categoryId: String(categoryId(n)) };
}

function cursorAt(id: string): string {
  const scope = { kind: 'pets', sortField: 'ID', valueType: undefined };
  return encodeCursor(scope, { value: null, id: id as Id });
}
