import assert from 'node:assert/strict';

import { Client, fetchExchange } from '@urql/core';
import { cacheExchange } from '@urql/exchange-graphcache';
import { relayPagination } from '@urql/exchange-graphcache/extras';

import { graphql } from '../generated/graphql/index.ts';
import { apiKey, assertEveryPet, report, serviceUrl, secondsThrottled, throttledKey } from '../shared/service.ts';
import { waitingFetch } from '../shared/waiting-fetch.ts';

// guide:begin urql-setup
function createClient(key: string): Client {
  return new Client({
    url: `${serviceUrl}/graphql`,
    preferGetMethod: false,
    fetch: waitingFetch,
    fetchOptions: { headers: { Authorization: `Bearer ${key}` } },
    exchanges: [
      cacheExchange({
        // Connections, edges and page information have no id of their own.
        keys: { PetConnection: () => null, PetEdge: () => null, PageInfo: () => null },
        resolvers: { Query: { pets: relayPagination() } },
        updates: {
          Mutation: {
            // A new pet belongs on a page that only the service knows.
            createPet: (_result, _arguments, cache) => cache.invalidate('Query', 'pets'),
          },
        },
      }),
      fetchExchange,
    ],
  });
}
// guide:end

// guide:begin urql-pagination
const petsQuery = graphql(`
  query UrqlPets($after: String) {
    pets(first: 10, after: $after) {
      edges {
        node {
          id
          name
        }
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

/** Reads page after page. The cache joins them: each result has all pets up to its page. */
async function readAllPets(client: Client) {
  let pages = 1;
  let connection = await readPage(client, null);
  for (; connection?.pageInfo.hasNextPage === true; pages += 1) {
    connection = await readPage(client, connection.pageInfo.endCursor ?? null);
  }
  return { pages, pets: connection?.edges.map(({ node }) => node) ?? [] };
}
// guide:end

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
const changed = await client.mutation(updatePet, { input: { id: pet.id, name: 'Rex of urql' } }).toPromise();
assert.equal(changed.error, undefined);
const cached = client.readQuery(petsQuery, {});
assert.equal(cached?.data?.pets?.edges.find(({ node }) => node.id === pet.id)?.node.name, 'Rex of urql');
const waitedSeconds = await waiting;
report({ client: 'urql', pets: pets.length, pages, cacheUpdated: true, waitedSeconds });
