import assert from 'node:assert/strict';

import { ApolloClient, ApolloLink, CombinedGraphQLErrors, HttpLink, InMemoryCache } from '@apollo/client';
import { ErrorLink } from '@apollo/client/link/error';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { relayStylePagination } from '@apollo/client/utilities';
import { mergeMap, timer } from 'rxjs';

import { graphql } from '../generated/graphql/index.ts';
import { apiKey, assertEveryPet, report, serviceUrl, secondsThrottled, throttledKey } from '../shared/service.ts';

// guide:begin apollo-client-throttling
/** Waits as long as the service says, and a little longer by chance, and sends the operation once more. RetryLink doesn't see a 429. */
const throttling = new ErrorLink(({ error, operation, forward }) => {
  if (!CombinedGraphQLErrors.is(error)) return undefined;
  const { code, retryAfter } = error.errors[0]?.extensions ?? {};
  if (code !== 'RATE_LIMITED' || typeof retryAfter !== 'number') return undefined;
  return timer((retryAfter + Math.random()) * 1000).pipe(mergeMap(() => forward(operation)));
});
// guide:end

// guide:begin apollo-client-persisted-queries
/** Sends the hash of an operation in the place of its text, which goes along only when the service doesn't know it yet. */
const persistedQueries = new PersistedQueryLink({
  sha256: async (text) => {
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
    return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
  },
});
// guide:end

// guide:begin apollo-client-trusted-documents
/** Sends the hash that codegen has written into the document: it is in the manifest, so no text has to go along, ever. */
const trustedDocuments = new PersistedQueryLink({
  generateHash: (document) => (document as { __meta__?: { hash?: string } }).__meta__?.hash ?? '',
});
// guide:end

/** The bodies that were sent. */
const sent: string[] = [];
const recordingFetch = (url: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
  sent.push(String(init?.body));
  return fetch(url, init);
};

// guide:begin apollo-client-setup
function createClient(key: string, links: readonly ApolloLink[] = []): ApolloClient {
  return new ApolloClient({
    link: ApolloLink.from([
      throttling,
      ...links,
      new HttpLink({
        uri: `${serviceUrl}/graphql`,
        headers: { Authorization: `Bearer ${key}` },
        fetch: recordingFetch,
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
const [pet] = pets;
assert.ok(pet);
await client.mutate({ mutation: updatePet, variables: { input: { id: pet.id, name: 'Rex of Apollo' } } });
const cached = client.readQuery({ query: petsQuery })?.pets?.edges.find(({ node }) => node.id === pet.id);
assert.equal(cached?.node.name, 'Rex of Apollo');
const waitedSeconds = await waiting;
assert.deepEqual(
  sent.filter((body) => body.includes('ApolloThrottled') && body.includes('"query":')),
  [],
);
report({ client: 'Apollo Client', pets: pets.length, pages, cacheUpdated: true, waitedSeconds });
