import assert from 'node:assert/strict';

import {
  commitMutation,
  createOperationDescriptor,
  Environment,
  fetchQuery,
  Network,
  RecordSource,
  Store,
  type ConcreteRequest,
  type GraphQLResponse,
  type MutationParameters,
  type OperationType,
} from 'relay-runtime';

import { apiKey, assertEveryPet, report, serviceUrl, secondsThrottled, throttledKey } from '../shared/service.ts';
import { retryingFetch } from '../shared/retrying-fetch.ts';
import categoryRefetchQuery, {
  type documentsCategoryRefetchQuery,
} from './__generated__/documentsCategoryRefetchQuery.graphql.ts';
import inventoryItemRefetchQuery, {
  type documentsInventoryItemRefetchQuery,
} from './__generated__/documentsInventoryItemRefetchQuery.graphql.ts';
import petRefetchQuery, { type documentsPetRefetchQuery } from './__generated__/documentsPetRefetchQuery.graphql.ts';
import petsQuery, { type documentsPetsQuery } from './__generated__/documentsPetsQuery.graphql.ts';
import sameIdQuery, { type documentsSameIdQuery } from './__generated__/documentsSameIdQuery.graphql.ts';
import throttledQuery, { type documentsThrottledQuery } from './__generated__/documentsThrottledQuery.graphql.ts';
import updatePet, { type documentsUpdatePetMutation } from './__generated__/documentsUpdatePetMutation.graphql.ts';

// guide:begin relay-setup
function createEnvironment(key: string): Environment {
  return new Environment({
    network: Network.create(async ({ id, text }, variables) => {
      const response = await retryingFetch(`${serviceUrl}/graphql`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` },
        // With `persistConfig` the artifacts have the ids of the manifest, without it the texts.
        body: JSON.stringify(id === null ? { query: text, variables } : { documentId: id, variables }),
      });
      return (await response.json()) as GraphQLResponse;
    }),
    store: new Store(new RecordSource()),
    // `id` is an int64, which a pet and a category may share; `nodeId` is different for each node.
    getDataID: (value) => value['nodeId'] as string,
  });
}
// guide:end

// guide:begin relay-reading
const environment = createEnvironment(apiKey);

/** What the store has for a query, without a request to the service. */
function lookup<Query extends OperationType>(query: ConcreteRequest, variables: Query['variables']): Query['response'] {
  return environment.lookup(createOperationDescriptor(query, variables).fragment).data as Query['response'];
}

async function read<Query extends OperationType>(
  query: ConcreteRequest,
  variables: Query['variables'],
  from = environment,
): Promise<Query['response']> {
  const response = await fetchQuery<Query>(from, query, variables, {
    networkCacheConfig: { force: true },
  }).toPromise();
  assert.ok(response);
  return response;
}

/** Page after page, joined by the store under the connection's key. */
async function readAllPets() {
  let pages = 0;
  for (let after: string | null | undefined = null; ;) {
    const { pets }: documentsPetsQuery['response'] = await read<documentsPetsQuery>(petsQuery, { after });
    pages += 1;
    if (pets?.pageInfo.hasNextPage !== true) break;
    after = pets.pageInfo.endCursor;
  }
  const { pets } = lookup<documentsPetsQuery>(petsQuery, {});
  return { pages, pets: pets?.edges.map(({ node }) => node) ?? [] };
}

function commit<Mutation extends MutationParameters>(
  mutation: ConcreteRequest,
  variables: Mutation['variables'],
): Promise<Mutation['response']> {
  return new Promise((resolve, reject) => {
    commitMutation<Mutation>(environment, { mutation, variables, onCompleted: resolve, onError: reject });
  });
}
// guide:end

const throttled = createEnvironment(throttledKey);
const waiting = secondsThrottled(async () => {
  const { categories } = await read<documentsThrottledQuery>(throttledQuery, {}, throttled);
  assert.ok(Number(categories?.totalCount) > 0);
});
const { pages, pets } = await readAllPets();
assertEveryPet(pets);

// A pet, its stock and a category, all with the same id, stay apart in the store.
const asked = await read<documentsSameIdQuery>(sameIdQuery, { id: '1' });
assert.ok(asked.pet?.inventory && asked.category);
assert.equal(new Set([asked.pet.nodeId, asked.pet.inventory.nodeId, asked.category.nodeId]).size, 3);
assert.deepEqual(lookup<documentsSameIdQuery>(sameIdQuery, { id: '1' }), asked);
assert.notEqual(asked.pet.name, asked.category.name);

const { pet } = asked;
await commit<documentsUpdatePetMutation>(updatePet, { input: { id: pet.id, name: 'Rex of Relay' } });
assert.equal(lookup<documentsSameIdQuery>(sameIdQuery, { id: '1' }).pet?.name, 'Rex of Relay');

for (const [query, nodeId] of [
  [petRefetchQuery, pet.nodeId],
  [categoryRefetchQuery, asked.category.nodeId],
  [inventoryItemRefetchQuery, asked.pet.inventory.nodeId],
] as const) {
  const { node } = await read<
    documentsPetRefetchQuery | documentsCategoryRefetchQuery | documentsInventoryItemRefetchQuery
  >(query, { nodeId });
  assert.ok(node);
}

const waitedSeconds = await waiting;
report({ client: 'Relay', pets: pets.length, pages, cacheUpdated: true, waitedSeconds });
