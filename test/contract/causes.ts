import type { Operation } from './document.ts';
import type { Answer } from './response-check.ts';
import { withBody, type Ask, type Store } from './store.ts';

/** Makes the service answer an operation with a certain status; each way to do so is asked. */
export type Cause = (operation: Operation, store: Store) => Promise<Answer[]>;

/** How to get each status, for every operation alike. Those of a store that is broken or gone are asked by `broken-store.ts`. */
export const causes: Readonly<Record<string, Cause>> = {
  200: succeed,
  201: async (operation, store) => {
    const request = await store.goodRequest(operation);
    const keyed = withHeader(request, 'idempotency-key', `contract-${operation.operationId}-201`);
    return [await store.ask(request), await store.ask(keyed), await store.ask(keyed)];
  },
  204: succeed,
  304: async (operation, store) => {
    const request = await store.goodRequest(operation);
    const { headers } = await store.ask(request);
    return [await store.ask(withHeader(request, 'if-none-match', headers['etag'] ?? ''))];
  },
  400: async (operation, store) => {
    const request = await store.goodRequest(operation);
    if (operation.body === undefined) return [await store.ask({ ...request, url: `${request.url}?limit=0` })];
    const [field = ''] = Object.keys(operation.body.properties ?? {});
    return [
      await store.ask(withBody(request, { [field]: [] })),
      await store.ask({ ...request, headers: withBody(request, {}).headers, body: '{"name":' }),
    ];
  },
  404: (operation, store) =>
    askAll(store, operation, (request) =>
      ['9223372036854775807', 'abc'].map((id) => ({ ...request, url: request.url.replace(/\d+$/, id) })),
    ),
  405: (operation, store) => askAll(store, operation, (request) => [{ ...request, method: 'PUT' }]),
  406: (operation, store) => askAll(store, operation, (request) => [withHeader(request, 'accept', 'text/html')]),
  409: (operation, store) => conflict(operation, store),
  412: (operation, store) => askAll(store, operation, (request) => [withHeader(request, 'if-match', '"another"')]),
  413: (operation, store) =>
    askAll(store, operation, (request) => [{ ...withBody(request, {}), body: ' '.repeat(1024 * 1024 + 1) }]),
  415: (operation, store) => askAll(store, operation, (request) => [withHeader(request, 'content-type', 'text/plain')]),
  422: async (operation, store) => {
    const request = withHeader(await store.goodRequest(operation), 'idempotency-key', `contract-${operation.operationId}`);
    await store.ask(request);
    return [await store.ask({ ...request, body: `${request.body} ` })];
  },
};

async function succeed(operation: Operation, store: Store): Promise<Answer[]> {
  return askAll(store, operation, (request) => [request]);
}

/** Asks variations of a request that would succeed. */
async function askAll(store: Store, operation: Operation, vary: (request: Ask) => Ask[]): Promise<Answer[]> {
  return Promise.all(vary(await store.goodRequest(operation)).map(store.ask));
}

function withHeader(request: Ask, name: string, value: string): Ask {
  return { ...request, headers: { ...request.headers, [name]: value } };
}

/** What each operation can't do in the state that its resource is in. */
async function conflict(operation: Operation, store: Store): Promise<Answer[]> {
  if (operation.method === 'POST') return stillRunning(operation, store);
  const request = await store.goodRequest(operation);
  const id = Number(/\d+$/.exec(request.url)?.[0]);
  switch (operation.operationId) {
    case 'deleteCategory':
      await store.create('/pets', { name: 'Rex', categoryId: id });
      return [await store.ask(request)];
    case 'deletePet':
      await store.create('/store/orders', { petId: id });
      return [await store.ask(request)];
    default: {
      const { url, headers } = request;
      await store.ask(withBody({ method: 'PATCH', url, headers }, { complete: true }));
      return [await store.ask(operation.method === 'PATCH' ? withBody(request, { complete: false }) : request)];
    }
  }
}

/** A second request with the key of one that waits for somebody else's lock. */
async function stillRunning(operation: Operation, store: Store): Promise<Answer[]> {
  const request = withHeader(
    await store.goodRequest(operation),
    'idempotency-key',
    `contract-${operation.operationId}-running`,
  );
  const { answers } = await store.whileHeld(async () => {
    const first = store.ask(request);
    await store.waitingStatement();
    return { answers: [await store.ask(request)], first };
  });
  return answers;
}
