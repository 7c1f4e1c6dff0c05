import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';

import { ApolloClient, ApolloLink, CombinedGraphQLErrors, HttpLink, InMemoryCache } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { Client, fetchExchange } from '@urql/core';
import { persistedExchange } from '@urql/exchange-persisted';
import { parse, print } from 'graphql';
import { GraphQLClient } from 'graphql-request';
import { Network, type GraphQLResponse, type GraphQLResponseWithData } from 'relay-runtime';

import { apiKey, report, serviceUrl } from '../shared/service.ts';

/** Both media types of a response, with the status of one that has data beside errors, and of one to an unknown hash. */
const mediaTypes = [
  { accept: 'application/graphql-response+json', partial: 294, unknown: 400 },
  { accept: 'application/json', partial: 200, unknown: 200 },
] as const;

/** A text of its own for each client and type, so that its hash isn't known yet. One of its fields fails. */
const documentFor = (name: string) =>
  parse(`mutation ${name} {
  stock: updateInventory(input: { petId: "1", quantity: 7 }) { inventoryItem { id quantity } }
  missing: deletePet(input: { id: "123456789" }) { deletedPetId }
}`);

interface Outcome {
  readonly data: unknown;
  readonly codes: readonly unknown[];
}

/** What is left of a response by a client that asks for a media type, and the statuses that it was sent. */
type Send = (document: ReturnType<typeof parse>, fetchAs: typeof fetch) => Promise<Outcome>;

const uri = `${serviceUrl}/graphql`;
const headers = { Authorization: `Bearer ${apiKey}` };
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const codesOf = (errors: readonly { readonly extensions?: Record<string, unknown> | undefined }[] = []) =>
  errors.map(({ extensions }) => extensions?.['code']);

const clients: Readonly<Record<string, { readonly send: Send; readonly isPersisting: boolean }>> = {
  Apollo: {
    isPersisting: true,
    send: async (mutation, fetchAs) => {
      const link = ApolloLink.from([
        new PersistedQueryLink({ sha256 }),
        new HttpLink({ uri, headers, fetch: fetchAs }),
      ]);
      const client = new ApolloClient({ link, cache: new InMemoryCache() });
      const { data, error } = await client.mutate({ mutation, errorPolicy: 'all' });
      return { data, codes: CombinedGraphQLErrors.is(error) ? codesOf(error.errors) : [error] };
    },
  },
  Urql: {
    isPersisting: true,
    send: async (document, fetchAs) => {
      const exchanges = [persistedExchange({ enableForMutation: true }), fetchExchange];
      const client = new Client({
        url: uri,
        fetch: fetchAs,
        fetchOptions: { headers },
        preferGetMethod: false,
        exchanges,
      });
      const { data, error } = await client.mutation(document, {}).toPromise();
      return { data, codes: error?.networkError ? [error] : codesOf(error?.graphQLErrors) };
    },
  },
  Relay: {
    isPersisting: false,
    send: async (document, fetchAs) => {
      const network = Network.create(async ({ text }) => {
        const body = JSON.stringify({ query: text });
        const options = { method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' }, body };
        return (await (await fetchAs(uri, options)).json()) as GraphQLResponse;
      });
      const text = print(document);
      const parameters = {
        id: null,
        cacheID: text,
        name: 'any',
        operationKind: 'mutation',
        text,
        metadata: {},
      } as const;
      const result = await network.execute(parameters, {}, {}, null).toPromise();
      const { data, errors } = result as GraphQLResponseWithData;
      return { data, codes: codesOf(errors as Parameters<typeof codesOf>[0]) };
    },
  },
  Request: {
    isPersisting: false,
    send: async (document, fetchAs) => {
      const client = new GraphQLClient(uri, { headers, fetch: fetchAs, errorPolicy: 'all' });
      const { data, errors } = await client.rawRequest({ query: print(document) });
      return { data, codes: codesOf(errors) };
    },
  },
};

const seen: Record<string, readonly number[]> = {};
for (const [name, { send, isPersisting }] of Object.entries(clients)) {
  for (const [index, { accept, partial, unknown }] of mediaTypes.entries()) {
    const statuses: number[] = [];
    const { data, codes } = await send(documentFor(`${name}${index}`), async (input, init) => {
      const request = new Request(input, init);
      request.headers.set('Accept', accept);
      const response = await fetch(request);
      assert.match(response.headers.get('Content-Type') ?? '', new RegExp(`^${accept.replace('+', '[+]')};`));
      statuses.push(response.status);
      return response;
    });
    assert.deepEqual(codes, ['NOT_FOUND'], name);
    const { stock, missing } = data as { stock?: { inventoryItem?: { quantity: number } }; missing: null };
    assert.deepEqual([stock?.inventoryItem?.quantity, missing], [7, null], name);
    assert.deepEqual(statuses, isPersisting ? [unknown, partial] : [partial], name);
    seen[`${name} ${accept}`] = statuses;
  }
}
report({ client: 'media types', ...seen });
