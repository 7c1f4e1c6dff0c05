import { encodeCursor } from '../../src/domain/cursor.ts';
import type { Id } from '../../src/domain/id.ts';

/** A request to either server. */
export interface LoadRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Workload {
  readonly name: string;
  readonly title: string;
  /** The request to the service for this part of the store. */
  readonly service: (part: Part) => LoadRequest;
  /** The request to the limit for the same data. */
  readonly limit: (part: Part) => LoadRequest;
  readonly isWrite?: true;
  /** No request may be sent a second time: a write, or a document that has to be new. */
  readonly isOneTime?: true;
  /** Each request has the next one of a thousand keys, as where many clients send little each. */
  readonly isOfManyKeys?: true;
}

/** The ids of pets and of categories run from 1 to these. */
export interface StoreSize {
  readonly pets: number;
  readonly categories: number;
}

/** What varies from request to request. */
export interface Part {
  readonly n: number;
  readonly petId: string;
  /** The category after which a page begins; a full page follows. 0 for the first page. */
  readonly afterCategoryId: string;
  readonly newPet: { readonly name: string; readonly categoryId: string };
}

/** No page begins within so many pets before the end, so that every page is full. */
const pageRoom = 1000;

/** What G3 asks for. */
const categoriesOfPage = 5;

export const smallestStore: StoreSize = { pets: 2 * pageRoom, categories: categoriesOfPage };

/** The part that a number stands for: they spread evenly over the whole store, far from each other. */
export function partOf({ pets, categories }: StoreSize, n: number): Part {
  return {
    n,
    petId: String(1 + ((n * 7919) % (pets - pageRoom))),
    afterCategoryId: String(n % (categories - categoriesOfPage + 1)),
    newPet: { name: `${newPetPrefix}${n}`, categoryId: String(1 + (n % categories)) },
  };
}

/** The names of all pets that the workloads add begin with it. */
export const newPetPrefix = 'Bench ';

const g1 = `query ($first: Int!, $after: String) { pets(first: $first, after: $after) {
  edges { node { id name status category { id name description } } } } }`;
const g2 = `query ($id: ID!) { pet(id: $id) { id name status category { id name } inventory { quantity status } } }`;
const g3 = `query ($categories: Int!, $pets: Int!, $after: String) { categories(first: $categories, after: $after) { edges { node { id name
  pets(first: $pets) { edges { node { id name status inventory { quantity status } } } } } } } }`;
const g4 = `mutation ($input: CreatePetInput!) { createPet(input: $input) { pet { id name status category { name } } } }`;

const u1 = `mutation ($input: UpdateInventoryInput!) { updateInventory(input: $input) { inventoryItem { quantity status } } }`;

/** How many documents the workload MANY sends one after another. */
const distinctDocuments = 500;

/** The workload G1 in a document of its own: the service can't know it from another one. */
function namedG1(operationName: string, petId: string): LoadRequest {
  return graphql(g1.replace('query', `query ${operationName}`), { first: 20, after: cursorAt(petId) });
}

function postPet({ newPet: { name, categoryId } }: Part): LoadRequest {
  // REST's ids are numbers.
  return { method: 'POST', path: '/pets', body: JSON.stringify({ name, categoryId: Number(categoryId) }) };
}

function limitR3({ newPet }: Part): LoadRequest {
  return { method: 'POST', path: '/r3?', body: JSON.stringify(newPet) };
}

function limitG1({ petId }: Part): LoadRequest {
  return { method: 'GET', path: `/g1?${petId}` };
}

/** Workloads in the forms that clients send, then first-time and many different GraphQL operations. */
const oneKeyWorkloads: readonly Workload[] = [
  {
    name: 'G1',
    title: 'a page of 20 pets with their categories',
    service: ({ petId }) => graphql(g1, { first: 20, after: cursorAt(petId) }),
    limit: limitG1,
  },
  {
    name: 'G2',
    title: 'one pet with category and stock',
    service: ({ petId }) => graphql(g2, { id: petId }),
    limit: ({ petId }) => ({ method: 'GET', path: `/g2?${petId}` }),
  },
  {
    name: 'G2L',
    title: 'G2 with its id in the text: each document another one',
    service: ({ petId }) => graphql(g2.replace('query ($id: ID!) ', '').replace('$id', JSON.stringify(petId)), {}),
    limit: ({ petId }) => ({ method: 'GET', path: `/g2?${petId}` }),
  },
  {
    name: 'G3',
    title: 'five categories, ten pets each, with stock',
    service: () => graphql(g3, { categories: categoriesOfPage, pets: 10 }),
    limit: () => ({ method: 'GET', path: '/g3?0' }),
  },
  {
    name: 'G3V',
    title: 'G3 after another category each time, so that few reads at a time are equal',
    service: ({ afterCategoryId }) =>
      graphql(g3, { categories: categoriesOfPage, pets: 10, after: cursorAt(afterCategoryId, 'categories') }),
    limit: ({ afterCategoryId }) => ({ method: 'GET', path: `/g3?${afterCategoryId}` }),
  },
  {
    name: 'G4',
    title: 'createPet',
    service: ({ newPet }) => graphql(g4, { input: newPet }),
    limit: ({ newPet }) => ({ method: 'POST', path: '/g4?', body: JSON.stringify(newPet) }),
    isWrite: true,
    isOneTime: true,
  },
  {
    name: 'G4L',
    title: 'G4 with its values in the text',
    service: ({ newPet: { name, categoryId } }) => {
      const input = `{ name: ${JSON.stringify(name)}, categoryId: ${JSON.stringify(categoryId)} }`;
      return graphql(g4.replace(' ($input: CreatePetInput!)', '').replace('$input', input), {});
    },
    limit: ({ newPet }) => ({ method: 'POST', path: '/g4?', body: JSON.stringify(newPet) }),
    isWrite: true,
    isOneTime: true,
  },
  {
    name: 'G4I',
    title: 'G4 with an Idempotency-Key of its own',
    service: ({ n, newPet }) => ({
      ...graphql(g4, { input: newPet }),
      headers: { 'idempotency-key': `bench-${process.pid}-${n}` },
    }),
    limit: ({ newPet }) => ({ method: 'POST', path: '/g4?', body: JSON.stringify(newPet) }),
    isWrite: true,
    isOneTime: true,
  },
  {
    name: 'R1',
    title: 'GET /pets, a page of 20',
    service: ({ petId }) => ({ method: 'GET', path: `/pets?limit=20&status=available&cursor=${cursorAt(petId)}` }),
    limit: ({ petId }) => ({ method: 'GET', path: `/r1?${petId}` }),
  },
  {
    name: 'R2',
    title: 'GET /pets/{petId}',
    service: ({ petId }) => ({ method: 'GET', path: `/pets/${petId}` }),
    limit: ({ petId }) => ({ method: 'GET', path: `/r2?${petId}` }),
  },
  {
    name: 'R3',
    title: 'POST /pets',
    service: postPet,
    limit: limitR3,
    isWrite: true,
    isOneTime: true,
  },
  {
    name: 'R3I',
    title: 'R3 with an Idempotency-Key of its own',
    service: (part) => ({ ...postPet(part), headers: { 'idempotency-key': `bench-${process.pid}-${part.n}` } }),
    limit: limitR3,
    isWrite: true,
    isOneTime: true,
  },
  {
    name: 'U1',
    title: 'updateInventory',
    service: ({ n, petId }) => graphql(u1, { input: { petId, quantity: n % 1000 } }),
    limit: ({ n, petId }) => ({ method: 'POST', path: '/u1?', body: JSON.stringify({ petId, quantity: n % 1000 }) }),
    isWrite: true,
  },
  {
    name: 'COLD',
    title: 'G1 in a document that is sent for the first time',
    service: ({ n, petId }) => namedG1(`Cold${n}`, petId),
    limit: limitG1,
    isOneTime: true,
  },
  {
    name: 'MANY',
    title: `G1 in ${distinctDocuments} documents, one after another`,
    service: ({ n, petId }) => namedG1(`Many${n % distinctDocuments}`, petId),
    limit: limitG1,
  },
];

const namesOfManyKeys = new Set(['G1', 'G2', 'G2L', 'G3V', 'G4', 'G4L', 'G4I', 'R1', 'R2', 'R3', 'R3I', 'U1']);

/** What one key sends, and some of it as a thousand keys send it: the name with a K. */
export const workloads: readonly Workload[] = oneKeyWorkloads.flatMap((workload) => {
  if (!namesOfManyKeys.has(workload.name)) return [workload];
  const { name, title } = workload;
  return [workload, { ...workload, name: `${name}K`, title: `${title}; 1,000 keys`, isOfManyKeys: true }];
});

function graphql(query: string, variables?: object): LoadRequest {
  return { method: 'POST', path: '/graphql', body: JSON.stringify({ query, variables }) };
}

function cursorAt(id: string, kind = 'pets'): string {
  const scope = { kind, sortField: 'ID', key: null };
  return encodeCursor(scope, { value: null, id: id as Id });
}
