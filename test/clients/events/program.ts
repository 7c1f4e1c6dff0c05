import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

import { ApolloClient, CombinedProtocolErrors, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { Client as UrqlClient, fetchExchange } from '@urql/core';
import { createClient as createSseClient } from 'graphql-sse';

import { apiKey, report, serviceUrl } from '../shared/service.ts';
import { mirrorStore, type Mirror } from './mirror.ts';

// guide:begin events-subscription
const changes = gql`
  subscription Changes($after: ID) {
    events(after: $after) {
      id
      type
      nodeId
      object {
        ... on Category {
          name
        }
      }
    }
  }
`;

interface Changes {
  readonly events: { readonly id: string; readonly type: string; readonly object?: { readonly name?: string } | null };
}

type Handle = (event: Changes['events']) => void;
// guide:end

// guide:begin events-apollo-client
/**
 * Follows the changes after a position until it is aborted. A stream that ends is followed by the next one, so that
 * nothing is missed.
 */
async function followByApolloClient(after: string, handle: Handle, signal: AbortSignal): Promise<void> {
  const client = new ApolloClient({
    link: new HttpLink({ uri: `${serviceUrl}/graphql`, headers: { Authorization: `Bearer ${apiKey}` } }),
    cache: new InMemoryCache(),
  });
  let position = after;
  while (!signal.aborted) {
    await new Promise<void>((resolve, reject) => {
      const options = { query: changes, variables: { after: position }, fetchPolicy: 'no-cache' } as const;
      const subscription = client.subscribe<Changes>(options).subscribe({
        next: ({ data, error }) => {
          if (CombinedProtocolErrors.is(error) && error.errors[0]?.extensions?.['code'] === 'EVENTS_GONE')
            reject(error);
          if (data == null) return;
          handle(data.events);
          position = data.events.id;
        },
        error: () => resolve(),
        complete: () => resolve(),
      });
      signal.addEventListener('abort', () => {
        subscription.unsubscribe();
        resolve();
      });
    });
    if (!signal.aborted) await sleep(500 + Math.random() * 1_000);
  }
}
// guide:end

// guide:begin events-graphql-sse
/** The same by graphql-sse. Its own retries would go back to the first position, so it has none. */
async function followByGraphQLSse(after: string, handle: Handle, signal: AbortSignal): Promise<void> {
  const client = createSseClient({
    url: `${serviceUrl}/graphql`,
    headers: { Authorization: `Bearer ${apiKey}` },
    retryAttempts: 0,
  });
  const query = changes.loc?.source.body ?? '';
  let position = after;
  signal.addEventListener('abort', () => client.dispose());
  while (!signal.aborted) {
    try {
      for await (const { data, errors } of client.iterate<Changes>({ query, variables: { after: position } })) {
        if (errors?.[0]?.extensions?.['code'] === 'EVENTS_GONE') throw new Error('Read the lists again.');
        if (data == null) continue;
        handle(data.events);
        position = data.events.id;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Error && error.message === 'Read the lists again.') throw error;
    }
    if (!signal.aborted) await sleep(500 + Math.random() * 1_000);
  }
}
// guide:end

// guide:begin events-urql
/** The same by urql, which sends subscriptions as other requests with `fetchSubscriptions`. */
async function followByUrql(after: string, handle: Handle, signal: AbortSignal): Promise<void> {
  const client = new UrqlClient({
    url: `${serviceUrl}/graphql`,
    fetchOptions: { headers: { Authorization: `Bearer ${apiKey}` } },
    fetchSubscriptions: true,
    preferGetMethod: false,
    exchanges: [fetchExchange],
  });
  let position = after;
  while (!signal.aborted) {
    await new Promise<void>((resolve, reject) => {
      const { unsubscribe } = client.subscription<Changes>(changes, { after: position }).subscribe((result) => {
        const { data, error, hasNext } = result;
        if (error?.graphQLErrors[0]?.extensions['code'] === 'EVENTS_GONE') reject(error);
        if (data !== undefined && error === undefined) {
          handle(data.events);
          position = data.events.id;
        }
        if (error !== undefined || hasNext === false) resolve();
      });
      signal.addEventListener('abort', () => {
        unsubscribe();
        resolve();
      });
    });
    if (!signal.aborted) await sleep(500 + Math.random() * 1_000);
  }
}
// guide:end

// guide:begin events-fetch
interface StoreEvent {
  readonly id: string;
  readonly type: string;
  readonly resource?: string;
  readonly object?: { readonly name?: string };
}

/** The same without streams: follows `Link` page by page, and waits a moment where nothing has happened. */
async function followByFetch(start: string, handle: (event: StoreEvent) => void, signal: AbortSignal): Promise<void> {
  let next = start;
  while (!signal.aborted) {
    const response = await fetch(new URL(next, serviceUrl), { headers: { Authorization: `Bearer ${apiKey}` } });
    if (response.status === 410) throw new Error('Read the lists again.');
    const events = response.ok ? ((await response.json()) as StoreEvent[]) : [];
    for (const event of events) handle(event);
    next = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1] ?? next;
    const seconds = Number(response.headers.get('retry-after') ?? 1);
    if (events.length === 0) await sleep(seconds * 1_000, undefined, { signal }).catch(() => undefined);
  }
}
// guide:end

async function request(path: string, method = 'GET', body?: object) {
  const response = await fetch(`${serviceUrl}${path}`, {
    method,
    headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return response;
}

async function cursor(): Promise<string> {
  const response = await request('/graphql', 'POST', { query: '{ eventCursor }' });
  return ((await response.json()) as { data: { eventCursor: string } }).data.eventCursor;
}

async function until(condition: () => boolean, what: string): Promise<void> {
  for (const endsAt = Date.now() + 30_000; !condition(); await sleep(20)) assert.ok(Date.now() < endsAt, what);
}

/** Each way to follow gets every category that is created, in its order, and none twice. */
async function followAll(): Promise<number> {
  const after = await cursor();
  const { headers } = await request('/events?cursor=now');
  const link = /<([^>]+)>/.exec(headers.get('link') ?? '')?.[1] ?? '';
  const abort = new AbortController();
  const seen = new Map<string, string[]>();
  const collect = (name: string): Handle => {
    const names: string[] = [];
    seen.set(name, names);
    return ({ type, object }) => {
      if (/^category.created$/i.test(type.replace('_', '.'))) names.push(object?.name ?? '');
    };
  };
  const following = [
    followByApolloClient(after, collect('Apollo Client'), abort.signal),
    followByGraphQLSse(after, collect('graphql-sse'), abort.signal),
    followByUrql(after, collect('urql'), abort.signal),
    followByFetch(link, collect('fetch'), abort.signal),
  ];
  const created = Array.from({ length: 20 }, (_, index) => `Followed ${index}`);
  for (const name of created) await request('/categories', 'POST', { name });
  for (const [name, names] of seen) {
    await until(() => names.length >= created.length, `${name} has got ${names.length} events`);
    assert.deepEqual(names, created, name);
  }
  abort.abort();
  await Promise.all(following);
  return seen.size;
}

/** Copies the store while four writers are at work, and compares the copy with the lists at the end. */
async function mirrorUnderWrites(): Promise<number> {
  const abort = new AbortController();
  const mirror: Mirror = await mirrorStore(serviceUrl, apiKey, abort.signal);
  const writers = Array.from({ length: 4 }, (_, writer) => write(writer));
  await Promise.all(writers);
  const expected = new Map<string, string>();
  for (const path of ['/categories', '/pets?limit=100', '/store/orders', '/inventory']) {
    const rows = (await (await request(path)).json()) as { id?: number; petId?: number }[];
    const base = path.split('?')[0] ?? '';
    for (const row of rows) expected.set(`${base}/${row.id ?? row.petId}`, JSON.stringify(row));
  }
  await until(() => JSON.stringify([...mirror.rows()]) === JSON.stringify([...expected].sort()), 'the copy is equal');
  abort.abort();
  await mirror.done;
  return mirror.applied();
}

async function write(writer: number): Promise<void> {
  for (let round = 0; round < 10; round += 1) {
    const category = (await (await request('/categories', 'POST', { name: `W${writer}` })).json()) as { id: number };
    const body = { name: `Pet of ${writer}`, categoryId: category.id };
    const pet = (await (await request('/pets', 'POST', body)).json()) as { id: number };
    await request(`/pets/${pet.id}`, 'PATCH', { status: 'sold' });
    await request(`/inventory/${pet.id}`, 'PATCH', { quantity: round });
    const order = (await (await request('/store/orders', 'POST', { petId: pet.id })).json()) as { id: number };
    if (round % 2 === 0) continue;
    await request(`/store/orders/${order.id}`, 'DELETE');
    await request(`/pets/${pet.id}`, 'DELETE');
    await request(`/categories/${category.id}`, 'DELETE');
  }
}

report({ client: 'events', followed: await followAll(), mirrored: await mirrorUnderWrites() });
