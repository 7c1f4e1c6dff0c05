import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

import { Client, fetchExchange, type Exchange } from '@urql/core';
import { cacheExchange } from '@urql/exchange-graphcache';
import { persistedExchange } from '@urql/exchange-persisted';

import { graphql } from '../generated/graphql/index.ts';
import { EmptyPages } from '../shared/empty-pages.ts';
import { apiKey, assertEveryPet, report, serviceUrl, secondsThrottled, throttledKey } from '../shared/service.ts';
import { MisbehavingProxy, type Misbehaviour } from '../shared/misbehaving-proxy.ts';
import { retryingFetch } from '../shared/retrying-fetch.ts';

// guide:begin urql-persisted-queries
const persistedQueries = persistedExchange({ preferGetForPersistedQueries: false });
// guide:end

// guide:begin urql-trusted-documents
const trustedDocuments = persistedExchange({
  preferGetForPersistedQueries: false,
  enableForMutation: true,
  enforcePersistedQueries: true,
  generateHash: async (_text, document) => (document as { __meta__?: { hash?: string } }).__meta__?.hash ?? '',
});
// guide:end

// guide:begin urql-setup
function createClient(key: string, origin = serviceUrl, exchanges: readonly Exchange[] = []): Client {
  return new Client({
    url: `${origin}/graphql`,
    preferGetMethod: false,
    fetch: retryingFetch,
    fetchOptions: { headers: { Authorization: `Bearer ${key}` } },
    exchanges: [
      cacheExchange({
        // Connections and page information have no id of their own.
        keys: { PetConnection: () => null, PageInfo: () => null },
        updates: {
          Mutation: {
            // A new pet belongs on a page that only the service knows.
            createPet: (_result, _arguments, cache) => cache.invalidate('Query', 'pets'),
          },
        },
      }),
      ...exchanges,
      fetchExchange,
    ],
  });
}
// guide:end

// guide:begin urql-pagination
const petsQuery = graphql(`
  query UrqlPets($after: String) {
    pets(first: 10, after: $after) {
      nodes {
        id
        name
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`);

async function readPage(client: Client, after: string | null) {
  const { data, error } = await client.query(petsQuery, { after }).toPromise();
  if (error !== undefined) throw error;
  return data?.pets;
}

/** Reads page after page. What a page holds says nothing of the next one: it may be empty, and there is more. */
async function readAllPets(client: Client) {
  const pets: { readonly id: string; readonly name: string }[] = [];
  let after: string | null = null;
  for (let pages = 1; ; pages += 1) {
    const page: Awaited<ReturnType<typeof readPage>> = await readPage(client, after);
    pets.push(...(page?.nodes ?? []));
    if (page?.pageInfo.hasNextPage !== true) return { pages, pets };
    after = page.pageInfo.endCursor ?? null;
  }
}
// guide:end

// guide:begin urql-idempotency
const orderPet = graphql(`
  mutation UrqlOrderPet($input: CreateOrderInput!) {
    createOrder(input: $input) {
      order {
        id
        quantity
      }
    }
  }
`);

/** Orders exactly once: `intent` is made before the first attempt, for example by `crypto.randomUUID()`. */
async function orderOnce(client: Client, input: { petId: string; quantity: number }, intent: string) {
  // The options of an operation replace those of the client.
  const headers = { Authorization: `Bearer ${apiKey}`, 'Idempotency-Key': intent };
  const { data, error } = await client.mutation(orderPet, { input }, { fetchOptions: { headers } }).toPromise();
  if (error !== undefined) throw error;
  return data?.createOrder?.order;
}
// guide:end

// guide:begin urql-if-version
const stockQuery = graphql(`
  query UrqlStock($petId: ID!) {
    inventoryItem(petId: $petId) {
      id
      quantity
      version
    }
  }
`);
const updateStock = graphql(`
  mutation UrqlUpdateStock($input: UpdateInventoryInput!) {
    updateInventory(input: $input) {
      inventoryItem {
        id
        quantity
        version
      }
    }
  }
`);

/**
 * Sells one, unless none is left. When another till was faster nothing was written: then it reads and decides again.
 */
async function sellOne(client: Client, petId: string): Promise<boolean> {
  for (;;) {
    const read = await client.query(stockQuery, { petId }, { requestPolicy: 'network-only' }).toPromise();
    if (read.error !== undefined) throw read.error;
    const item = read.data?.inventoryItem;
    if (item == null || item.quantity === 0) return false;
    const input = { petId, quantity: item.quantity - 1, ifVersion: item.version };
    const { error } = await client.mutation(updateStock, { input }).toPromise();
    if (error === undefined) return true;
    if (error.graphQLErrors[0]?.extensions['code'] !== 'PRECONDITION_FAILED') throw error;
  }
}
// guide:end

const ordersQuery = graphql(`
  query UrqlOrders {
    orders(first: 100) {
      edges {
        node {
          id
          quantity
        }
      }
    }
  }
`);

/** Orders through a proxy that loses responses. Each order is there once, as it was answered. */
async function orderThroughLosses(petId: string) {
  const losses = Array.from({ length: 10 }, (): Misbehaviour[] => ['lost', 'cut', 'passed']).flat();
  const proxy = await MisbehavingProxy.start(serviceUrl, losses);
  const lossy = createClient(apiKey, proxy.url);
  const orders: unknown[] = [];
  for (let quantity = 1; quantity <= 10; quantity += 1) {
    orders.push(await orderOnce(lossy, { petId, quantity }, crypto.randomUUID()));
  }
  await proxy.close();
  assert.deepEqual(proxy.left, []);
  const { data } = await client.query(ordersQuery, {}, { requestPolicy: 'network-only' }).toPromise();
  assert.deepEqual(
    data?.orders?.edges.map(({ node }) => node),
    orders,
  );
  return { orders: orders.length, lostResponses: losses.filter((each) => each !== 'passed').length };
}

/** Two tills sell from one inventory entry until it is empty: together they have sold what there was. */
async function sellAtTwoTills(petId: string) {
  const quantity = 20;
  const stocked = await client.mutation(updateStock, { input: { petId, quantity } }).toPromise();
  assert.equal(stocked.error, undefined);
  const sold = await Promise.all(
    [createClient(apiKey), createClient(apiKey)].map(async (till) => {
      let count = 0;
      while (await sellOne(till, petId)) {
        count += 1;
        // The next customer comes by chance: so now this till is first, now the other.
        await sleep(Math.random() * 50);
      }
      return count;
    }),
  );
  assert.equal(
    sold.reduce((sum, count) => sum + count, 0),
    quantity,
  );
  return sold;
}

const updatePet = graphql(`
  mutation UrqlUpdatePet($input: UpdatePetInput!) {
    updatePet(input: $input) {
      pet {
        id
        name
      }
    }
  }
`);
const throttledQuery = graphql(`
  query UrqlThrottled {
    categories(first: 1) {
      totalCount
    }
  }
`);

const client = createClient(apiKey);
const waiting = secondsThrottled(async () => {
  const throttled = createClient(throttledKey);
  const { error } = await throttled.query(throttledQuery, {}, { requestPolicy: 'network-only' }).toPromise();
  assert.equal(error, undefined);
});
const { pages, pets } = await readAllPets(client);
assertEveryPet(pets);
const [pet] = pets;
assert.ok(pet);
for (const exchange of [persistedQueries, trustedDocuments])
  assert.equal((await readAllPets(createClient(apiKey, serviceUrl, [exchange]))).pets.length, pets.length);
const changed = await client.mutation(updatePet, { input: { id: pet.id, name: 'Rex of urql' } }).toPromise();
assert.equal(changed.error, undefined);
const cached = client.readQuery(petsQuery, { after: null });
assert.equal(cached?.data?.pets?.nodes.find(({ id }) => id === pet.id)?.name, 'Rex of urql');
const emptyPages = await EmptyPages.start(serviceUrl);
assertEveryPet((await readAllPets(createClient(apiKey, emptyPages.url))).pets);
emptyPages.close();
const retried = await orderThroughLosses(pet.id);
const soldAtTills = await sellAtTwoTills(pet.id);
const waitedSeconds = await waiting;
report({ client: 'urql', pets: pets.length, pages, cacheUpdated: true, ...retried, soldAtTills, waitedSeconds });
