import assert from 'node:assert/strict';

import { ApolloClient, ApolloLink, CombinedGraphQLErrors, HttpLink, InMemoryCache } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { relayStylePagination } from '@apollo/client/utilities';

import { graphql } from '../generated/graphql/index.ts';
import { EmptyPages } from '../shared/empty-pages.ts';
import { MisbehavingProxy, retryAfterSeconds, type Misbehaviour } from '../shared/misbehaving-proxy.ts';
import { retryingFetch } from '../shared/retrying-fetch.ts';
import { apiKey, assertEveryPet, report, serviceUrl, secondsThrottled, throttledKey } from '../shared/service.ts';

// guide:begin apollo-client-persisted-queries
/**
 * Sends the hash of an operation in the place of its text, which goes along only when the service doesn't know it yet.
 */
const persistedQueries = new PersistedQueryLink({
  sha256: async (text) => {
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
    return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
  },
});
// guide:end

// guide:begin apollo-client-trusted-documents
/**
 * Sends the hash that codegen has written into the document: it is in the manifest, so no text has to go along, ever.
 */
const trustedDocuments = new PersistedQueryLink({
  generateHash: (document) => (document as { __meta__?: { hash?: string } }).__meta__?.hash ?? '',
});
// guide:end

/** The bodies that were sent. */
const sent: string[] = [];
const { fetch: sendRequest } = globalThis;
globalThis.fetch = async (input, init) => {
  if (input instanceof Request) sent.push(await input.clone().text());
  return sendRequest(input, init);
};

// guide:begin apollo-client-setup
function createClient(key: string, links: readonly ApolloLink[] = [], origin = serviceUrl): ApolloClient {
  return new ApolloClient({
    link: ApolloLink.from([
      ...links,
      new HttpLink({
        uri: `${origin}/graphql`,
        headers: { Authorization: `Bearer ${key}` },
        fetch: retryingFetch,
      }),
    ]),
    cache: new InMemoryCache({
      typePolicies: {
        Query: { fields: { pets: relayStylePagination(['filter', 'orderBy']) } },
        Category: { fields: { pets: relayStylePagination(['filter', 'orderBy']) } },
      },
    }),
  });
}
// guide:end

// guide:begin apollo-client-pagination
const petsQuery = graphql(`
  query ApolloPets($after: String) {
    pets(first: 10, after: $after) {
      edges {
        node {
          id
          name
          status
          category {
            id
            name
          }
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`);

/** Reads page after page into the cache; the result is what the cache has in the end. */
async function readAllPets(client: ApolloClient) {
  const query = client.watchQuery({ query: petsQuery });
  let { data } = await client.query({ query: petsQuery });
  let pages = 1;
  for (let page = data?.pets?.pageInfo; page?.hasNextPage === true; pages += 1) {
    ({ data } = await query.fetchMore({ variables: { after: page.endCursor } }));
    page = data?.pets?.pageInfo;
  }
  return { pages, pets: client.readQuery({ query: petsQuery })?.pets?.edges.map(({ node }) => node) ?? [] };
}
// guide:end

// guide:begin apollo-client-mutation
const updatePet = graphql(`
  mutation ApolloUpdatePet($input: UpdatePetInput!) {
    updatePet(input: $input) {
      pet {
        id
        name
        status
      }
    }
  }
`);
// guide:end

// guide:begin apollo-client-atomic
const sellPet = graphql(`
  mutation ApolloSellPet($order: CreateOrderInput!, $stock: UpdateInventoryInput!, $pet: UpdatePetInput!) @atomic {
    createOrder(input: $order) {
      order {
        id
      }
    }
    updateInventory(input: $stock) {
      inventoryItem {
        id
        quantity
        version
      }
    }
    updatePet(input: $pet) {
      pet {
        id
        status
      }
    }
  }
`);

/** An order, one less in stock and a pet that is sold; nothing of it when the stock has changed since it was read. */
async function sell(client: ApolloClient, item: { id: string; quantity: number; version: string }) {
  const { id, quantity, version } = item;
  const variables = {
    order: { petId: id, quantity: 1 },
    stock: { petId: id, quantity: quantity - 1, ifVersion: version },
    pet: { id, status: 'SOLD' as const },
  };
  const { error } = await client.mutate({ mutation: sellPet, variables, errorPolicy: 'all' });
  if (error === undefined) return true;
  // The field that failed has its own error, and the others ABORTED.
  const isOutdated = ({ extensions }: { extensions?: Record<string, unknown> }) =>
    extensions?.['code'] === 'PRECONDITION_FAILED';
  if (CombinedGraphQLErrors.is(error) && error.errors.some(isOutdated)) return false;
  throw error;
}
// guide:end

const saleQuery = graphql(`
  query ApolloSale($petId: ID!) {
    inventoryItem(petId: $petId) {
      id
      quantity
      status
      version
    }
    orders(first: 100) {
      edges {
        node {
          id
          petId
        }
      }
    }
  }
`);
const stockPet = graphql(`
  mutation ApolloStockPet($input: UpdateInventoryInput!) {
    updateInventory(input: $input) {
      inventoryItem {
        id
        quantity
        status
        version
      }
    }
  }
`);

/** Sells through a proxy that loses responses: each sale is made once and whole, an outdated one leaves nothing. */
async function sellThroughLosses(petIds: readonly string[]) {
  const losses = petIds.flatMap((): Misbehaviour[] => ['lost', 'cut', 'passed', 'cut', 'passed']);
  const proxy = await MisbehavingProxy.start(serviceUrl, losses);
  const lossy = createClient(apiKey, [persistedQueries], proxy.url);
  const expectSale = async (petId: string, orders: readonly string[]) => {
    const { data } = await client.query({ query: saleQuery, variables: { petId }, fetchPolicy: 'network-only' });
    const { quantity, status } = data?.inventoryItem ?? {};
    assert.deepEqual([quantity, status], [4, 'SOLD']);
    assert.deepEqual(
      data?.orders?.edges.map(({ node }) => node.petId),
      orders,
    );
  };
  for (const [index, petId] of petIds.entries()) {
    const { data } = await client.mutate({ mutation: stockPet, variables: { input: { petId, quantity: 5 } } });
    const item = data?.updateInventory?.inventoryItem;
    assert.ok(item);
    assert.equal(await sell(lossy, item), true);
    await expectSale(petId, petIds.slice(0, index + 1));
    assert.equal(await sell(lossy, item), false);
    await expectSale(petId, petIds.slice(0, index + 1));
  }
  await proxy.close();
  assert.deepEqual(proxy.left, []);
  return { sales: petIds.length };
}

/** A sale that begins while the service is 503, and the same one under way, ends when the service is back, made once. */
async function sellWhileUnavailable(petId: string) {
  const refusals: Misbehaviour[] = ['unavailable', 'unavailable', 'unavailable', 'underWay'];
  const proxy = await MisbehavingProxy.start(serviceUrl, refusals);
  const patient = createClient(apiKey, [], proxy.url);
  const { data } = await client.mutate({ mutation: stockPet, variables: { input: { petId, quantity: 5 } } });
  const item = data?.updateInventory?.inventoryItem;
  assert.ok(item);
  const before = await countOrders();
  assert.equal(await sell(patient, item), true);
  await proxy.close();
  assert.equal(await countOrders(), before + 1);
  assert.deepEqual(proxy.left, []);
  // Never before the time that the service has named.
  for (const gap of proxy.gapsMillis) assert.ok(gap >= retryAfterSeconds * 1000, `${gap} ms between two attempts`);
  assert.equal(new Set(proxy.idempotencyKeys).size, 1);
  return { refused: refusals.length };
}

async function countOrders() {
  const { data } = await client.query({ query: saleQuery, variables: { petId: '1' }, fetchPolicy: 'network-only' });
  return data?.orders?.edges.length ?? 0;
}

const client = createClient(apiKey, [persistedQueries]);
const throttled = createClient(throttledKey, [trustedDocuments]);
const throttledQuery = graphql(`
  query ApolloThrottled {
    categories(first: 1) {
      totalCount
    }
  }
`);

const waiting = secondsThrottled(async () => {
  const { error, data } = await throttled.query({ query: throttledQuery, fetchPolicy: 'network-only' });
  assert.equal(error, undefined);
  assert.ok(Number(data?.categories?.totalCount) > 0);
});
const { pages, pets } = await readAllPets(client);
assertEveryPet(pets);
// The text went to the service once; each page after that was a hash alone.
const pageRequests = sent.filter((body) => body.includes('ApolloPets'));
assert.deepEqual(
  [pageRequests.length, pageRequests.filter((body) => body.includes('"query":')).length],
  [pages + 1, 1],
);
const emptyPages = await EmptyPages.start(serviceUrl);
assertEveryPet((await readAllPets(createClient(apiKey, [], emptyPages.url))).pets);
emptyPages.close();
const [pet] = pets;
assert.ok(pet);
await client.mutate({ mutation: updatePet, variables: { input: { id: pet.id, name: 'Rex of Apollo' } } });
const cached = client.readQuery({ query: petsQuery })?.pets?.edges.find(({ node }) => node.id === pet.id);
assert.equal(cached?.node.name, 'Rex of Apollo');
const retried = await sellThroughLosses(pets.slice(0, 10).map(({ id }) => id));
const unavailable = await sellWhileUnavailable(pets.at(-1)?.id ?? '');
const waitedSeconds = await waiting;
assert.deepEqual(
  sent.filter((body) => body.includes('ApolloThrottled') && body.includes('"query":')),
  [],
);
report({
  client: 'Apollo Client',
  pets: pets.length,
  pages,
  cacheUpdated: true,
  ...retried,
  ...unavailable,
  waitedSeconds,
});
