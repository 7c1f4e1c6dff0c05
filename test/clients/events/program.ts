import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

import {
  ApolloClient,
  CombinedGraphQLErrors,
  CombinedProtocolErrors,
  gql,
  HttpLink,
  InMemoryCache,
  ServerError,
} from '@apollo/client';
import { Client as UrqlClient, fetchExchange } from '@urql/core';
import { print } from 'graphql';
import { createClient as createSseClient, NetworkError } from 'graphql-sse';

import { eventIdOf } from '../../../src/domain/events/event.ts';
import { apiKey, demand, report, serviceUrl } from '../shared/service.ts';
import { retryingFetch } from '../shared/retrying-fetch.ts';
import { Refusal, waitToGoOn } from '../shared/wait-to-go-on.ts';
import { followByFetch, type StoreEvent } from './follow-by-fetch.ts';
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

/** Must not throw. */
type Handle = (event: Changes['events']) => void;

/** What a client says of the end of a stream: an error with its extensions, or the response that has refused it. */
interface StreamEnd {
  readonly message?: string | undefined;
  readonly extensions?: { readonly status?: number; readonly retryAfter?: number } | undefined;
  readonly response?: Response | undefined;
}

/** Opens a stream after a position. Returns what closes it. */
type OpenStream = (after: string, handle: Handle, onEnd: (end: StreamEnd) => void) => () => void;

/**
 * Follows the changes after a position until it is aborted. When a stream ends, the next one goes on after the last
 * event. Throws a Refusal.
 */
async function follow(open: OpenStream, after: string, handle: Handle, signal: AbortSignal): Promise<void> {
  let position = after;
  for (let attempt = 1; !signal.aborted; attempt += 1) {
    const ended = Promise.withResolvers<StreamEnd>();
    const stop = (): void => ended.resolve({});
    signal.addEventListener('abort', stop);
    const take: Handle = (event) => {
      handle(event);
      position = event.id;
      attempt = 0;
    };
    const close = open(position, take, ended.resolve);
    const { message, extensions, response } = await ended.promise;
    signal.removeEventListener('abort', stop);
    close();
    const status = extensions?.status ?? response?.status;
    const retryAfter = extensions?.retryAfter ?? Number(response?.headers.get('retry-after') ?? 0);
    // A stream that has lasted its hour ends with 200.
    if (status === 200) attempt = 0;
    await waitToGoOn(attempt, { status, retryAfter, message }, signal);
  }
}
// guide:end

// guide:begin events-apollo-client
const apollo = new ApolloClient({
  link: new HttpLink({
    uri: `${serviceUrl}/graphql`,
    headers: { Authorization: `Bearer ${apiKey}` },
    fetch: retryingFetch,
  }),
  cache: new InMemoryCache(),
});

const openByApolloClient: OpenStream = (after, handle, onEnd) => {
  const options = { query: changes, variables: { after }, fetchPolicy: 'no-cache' } as const;
  const subscription = apollo.subscribe<Changes>(options).subscribe({
    next: ({ data, error }) => {
      if (error === undefined && data != null) return handle(data.events);
      const isResult = CombinedProtocolErrors.is(error) || CombinedGraphQLErrors.is(error);
      const extensions = isResult ? error.errors[0]?.extensions : undefined;
      const response = ServerError.is(error) ? error.response : undefined;
      return onEnd({ message: error?.message, extensions, response });
    },
    complete: () => onEnd({}),
  });
  return () => subscription.unsubscribe();
};
// guide:end

// guide:begin events-graphql-sse
/** Its own retries would go back to the first position, so it has none. */
const sse = createSseClient({
  url: `${serviceUrl}/graphql`,
  headers: { Authorization: `Bearer ${apiKey}` },
  fetchFn: retryingFetch,
  retryAttempts: 0,
});

const openByGraphQLSse: OpenStream = (after, handle, onEnd) =>
  sse.subscribe<Changes>(
    { query: print(changes), variables: { after } },
    {
      next: ({ data, errors }) => {
        if (errors === undefined && data != null) handle(data.events);
        else onEnd({ message: errors?.[0]?.message, extensions: errors?.[0]?.extensions });
      },
      error: (error) =>
        onEnd(error instanceof NetworkError ? { message: error.message, response: error.response } : {}),
      complete: () => onEnd({}),
    },
  );
// guide:end

// guide:begin events-urql
/** It sends subscriptions as other requests with `fetchSubscriptions`. */
const urql = new UrqlClient({
  url: `${serviceUrl}/graphql`,
  fetch: retryingFetch,
  fetchOptions: { headers: { Authorization: `Bearer ${apiKey}` } },
  fetchSubscriptions: true,
  preferGetMethod: false,
  exchanges: [fetchExchange],
});

const openByUrql: OpenStream = (after, handle, onEnd) => {
  const { unsubscribe } = urql.subscription<Changes>(changes, { after }).subscribe(({ data, error, hasNext }) => {
    // At the end of a stream it gives the last event once more.
    if (error === undefined && data !== undefined && hasNext) handle(data.events);
    else onEnd({ message: error?.message, extensions: error?.graphQLErrors[0]?.extensions, response: error?.response });
  });
  return unsubscribe;
};
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

/** Again with the same key while the service, or the proxy's way to it, isn't back. */
async function create(name: string): Promise<void> {
  for (const endsAt = Date.now() + 60_000; ; await sleep(200)) {
    const { ok, status } = await fetch(`${serviceUrl}/categories`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json', 'Idempotency-Key': name },
      body: JSON.stringify({ name }),
    });
    if (ok) return;
    assert.ok((status >= 500 || status === 409) && Date.now() < endsAt, `${name}: ${status}`);
  }
}

async function cursor(): Promise<string> {
  const response = await request('/graphql', 'POST', { query: '{ eventCursor }' });
  return ((await response.json()) as { data: { eventCursor: string } }).data.eventCursor;
}

async function until(condition: () => boolean, what: string): Promise<void> {
  for (const endsAt = Date.now() + 60_000; !condition(); await sleep(20)) assert.ok(Date.now() < endsAt, what);
}

const gone = eventIdOf('1:4711');
const page = (cursor: string): URL => new URL(`/events?cursor=${cursor}`, serviceUrl);

/** Gets the name of each category that is created. */
type Collect = (name: string | undefined) => void;
type Way = (after: string, collect: Collect, signal: AbortSignal) => Promise<void>;

const byStream =
  (open: OpenStream): Way =>
  (after, collect, signal) =>
    follow(open, after, ({ type, object }) => type === 'CATEGORY_CREATED' && collect(object?.name), signal);

const ways: Readonly<Record<string, Way>> = {
  'Apollo Client': byStream(openByApolloClient),
  'graphql-sse': byStream(openByGraphQLSse),
  urql: byStream(openByUrql),
  fetch: (after, collect, signal) => {
    const handle = ({ type, object }: StoreEvent): void => {
      if (type === 'category.created') collect((object as { name: string }).name);
    };
    return followByFetch(page(after), apiKey, handle, signal);
  },
};

/**
 * Each way gets every category that is created here, in its order, and none twice, though the service stops and is
 * killed.
 */
async function followAll(): Promise<Readonly<Record<string, number>>> {
  const after = await cursor();
  const abort = new AbortController();
  const own = `Followed by ${process.pid}: `;
  const seen = new Map<string, string[]>();
  const following = Object.entries(ways).map(([way, start]) => {
    const names: string[] = [];
    seen.set(way, names);
    return start(after, (name = '') => name.startsWith(own) && names.push(name), abort.signal);
  });
  const created: string[] = [];
  for (const signal of [undefined, 'SIGTERM', 'SIGKILL']) {
    if (signal !== undefined) await demand({ restart: signal });
    for (let count = 0; count < 10; count += 1) {
      const name = `${own}${created.length}`;
      created.push(name);
      await create(name);
    }
    for (const [way, names] of seen) {
      await until(() => names.length >= created.length, `${way} has got ${names.length} of ${created.length} events`);
      assert.deepEqual(names, created, way);
    }
  }
  abort.abort();
  await Promise.all(following);
  return Object.fromEntries([...seen].map(([way, names]) => [way, names.length]));
}

/** Each way ends with an error when its position is gone, and when its key is revoked, before and while it follows. */
async function endAll(): Promise<number> {
  const after = await cursor();
  const begin = (position: string): Promise<void>[] =>
    Object.values(ways).map((start) => start(position, () => undefined, AbortSignal.timeout(60_000)));
  const endsWith = async (following: readonly Promise<void>[], status: number): Promise<void> => {
    for (const [index, outcome] of (await Promise.allSettled(following)).entries()) {
      const reason: unknown = outcome.status === 'rejected' ? outcome.reason : undefined;
      assert.equal(reason instanceof Refusal ? reason.status : reason, status, Object.keys(ways)[index]);
    }
  };
  await endsWith(begin(gone), 410);
  await Promise.all([endsWith(begin(after), 401), demand('revoke')]);
  await endsWith(begin(after), 401);
  return Object.keys(ways).length;
}

/** Copies the store while writers are at work, and compares the copy with the lists when all of them have ended. */
async function mirrorUnderWrites(): Promise<number> {
  const abort = new AbortController();
  const mirror: Mirror = await mirrorStore(serviceUrl, apiKey, abort.signal);
  const writers = Array.from({ length: 4 }, (_, writer) => write(writer));
  await Promise.all(writers);
  await demand({});
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
  for (let round = 0; round < 6; round += 1) {
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

report({ client: 'events', followed: await followAll(), mirrored: await mirrorUnderWrites(), ended: await endAll() });
