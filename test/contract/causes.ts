import { eventIdOf } from '../../src/domain/events/event.ts';
import { referencesOf } from '../../src/domain/nouns.ts';
import type { Conflict } from '../support/nouns/noun-sample.ts';
import { testedNounAt, testedNouns, type TestedNoun } from '../support/nouns/nouns.ts';
import { serverUrl } from '../support/template-database.ts';
import type { Operation } from './document.ts';
import type { ReceivedResponse } from './response-check.ts';
import { withBody, type Ask, type Store } from './store.ts';

/** Makes the service respond to an operation with a certain status, in every way that there is. */
type Cause = (operation: Operation, store: Store) => Promise<ReceivedResponse[]>;

/** Of an event that never was. */
const unknownPosition = eventIdOf('1:4711');

/** How to get each status, of every operation that lists it. Those of a broken store are in `breakdowns.ts`. */
export const causes: Readonly<Record<string, Cause>> = {
  200: varied((request) => [request]),
  201: async (operation, store) => {
    const request = await store.goodRequest(operation);
    // An action isn't done twice on the same row.
    const other = await store.goodRequest(operation);
    const keyed = withHeader(other, 'idempotency-key', `${operation.operationId}, replayed`);
    const responses = [await store.ask(request), await store.ask(keyed), await store.ask(keyed)];
    for (const response of responses) await assertLocation(operation, response, store);
    return responses;
  },
  204: varied((request) => [request]),
  304: async (operation, store) => {
    const request = await tagged(operation, store);
    const { headers } = await store.ask(request);
    return [await store.ask(withHeader(request, 'if-none-match', headers['etag'] ?? ''))];
  },
  400: async ({ body, ...operation }, store) => {
    const request = await store.goodRequest({ ...operation, body });
    if (body === undefined) {
      const isList = operation.method === 'GET';
      const wrong = isList ? { ...request, url: `${request.url}?limit=0` } : withHeader(request, 'idempotency-key', '');
      return [await store.ask(wrong)];
    }
    const [field = ''] = Object.keys(body.properties ?? {});
    return [await store.ask(withBody(request, { [field]: [] })), await store.ask({ ...request, body: '{"name":' })];
  },
  401: varied((request) => [
    { ...request, headers: without(request.headers, 'authorization') },
    withHeader(request, 'authorization', 'Bearer nonsense'),
  ]),
  403: async (operation, store) => {
    const request = await store.goodRequest(operation);
    const banned = { ...request, headers: { ...request.headers, ...(await store.keys.banned()) } };
    if (operation.method === 'GET') return [await store.ask(banned)];
    const unfit = { ...request, headers: { ...request.headers, ...(await store.keys.readOnly()) } };
    return [await store.ask(banned), await store.ask(unfit)];
  },
  404: varied((request) => [withId(request, '9223372036854775807'), withId(request, 'abc')]),
  405: varied((request) => [{ ...request, method: 'PUT' }]),
  406: varied((request) => [withHeader(request, 'accept', 'text/html')]),
  409: async (operation, store) => [
    ...(operation.takesKey && !isEmbedded() ? await stillRunning(operation, store) : []),
    ...(isOfItsKeyAlone(operation) ? [] : await conflict(operation, store)),
  ],
  410: varied((request) => [{ ...request, url: `${request.url}?cursor=${unknownPosition}` }]),
  412: async (operation, store) => {
    return [await store.ask(withHeader(await tagged(operation, store), 'if-match', '"another"'))];
  },
  413: varied((request) => [{ ...withBody(request, {}), body: ' '.repeat(1024 * 1024 + 1) }]),
  415: varied((request) => [withHeader(request, 'content-type', 'text/plain')]),
  422: async (operation, store) => {
    const request = await store.goodRequest(operation);
    const keyed = withHeader(request, 'idempotency-key', `${operation.operationId}, reused`);
    await store.ask(keyed);
    return [await store.ask({ ...keyed, body: `${keyed.body} ` })];
  },
  429: async (operation, store) => {
    const request = await store.goodRequest(operation);
    const spent = { ...request, headers: { ...request.headers, ...(await store.keys.single()) } };
    await store.ask(spent);
    return [await store.ask(spent)];
  },
};

/** Throws unless the address is that of what was created, in the same state. */
async function assertLocation(
  { operationId, path }: Operation,
  { status, headers, text }: ReceivedResponse,
  store: Store,
): Promise<void> {
  if (status !== 201) {
    const { file = '' } = testedNounAt(path) ?? {};
    throw new Error(`${operationId} got ${status}: ${text}. Does ready in ${file} say what a new row needs?`);
  }
  const url = headers['location'] ?? '';
  const found = await store.ask({ method: 'GET', url, headers: store.headers });
  if (found.status === 200 && found.text === text && found.headers['etag'] === headers['etag']) return;
  throw new Error(`${operationId} has created ${text}, but at its Location ${url} is ${found.status}: ${found.text}`);
}

/** True where two statements never run at a time: the second one waits, and then gets the first one's response. */
function isEmbedded(): boolean {
  return serverUrl() === undefined;
}

export function isImpossible(operation: Operation, status: string): boolean {
  return status === '409' && isOfItsKeyAlone(operation) && isEmbedded();
}

/** Whether an operation documents 409 for a key in use, and nothing else. */
function isOfItsKeyAlone({ responses }: Operation): boolean {
  return responses['409']?.description.startsWith('The first request with this') === true;
}

/** A request whose response, or the resource that it changes, has an entity tag. */
async function tagged(operation: Operation, store: Store): Promise<Ask> {
  const request = await store.goodRequest(operation);
  return operation.operationId === 'listPets' ? { ...request, url: '/pets?id=1,2' } : request;
}

/** Asks variations of a request that would succeed. */
function varied(vary: (request: Ask) => Ask[]): Cause {
  return async (operation, store) =>
    Promise.all(vary(await store.goodRequest(operation)).map((request) => store.ask(request)));
}

/** What an operation can't do in the state that its resource is in. */
async function conflict(operation: Operation, store: Store): Promise<ReceivedResponse[]> {
  const tested = testedNounAt(operation.path);
  if (tested === undefined) throw new Error(`${operation.path} is of no noun in src/domain/nouns.ts.`);
  const { noun, collection, file, conflicts } = tested;
  const own = conflicts?.[operation.operationId];
  const found = own ?? (await whileNamed(tested, operation, store));
  if (found === undefined)
    throw new Error(`conflicts in ${file} lacks what ${operation.operationId} refuses with 409.`);
  const request = await store.goodRequest(operation);
  const sent = found.body === undefined ? request : withBody(request, found.body);
  const fields = { ...(JSON.parse(sent.body ?? '{}') as object), id: /\d+(?=\D*$)/.exec(request.url)?.[0] };
  await store.prepare(found.before, fields, `conflicts in ${file}`);
  const response = await store.ask(sent);
  if (response.status === 409) return [response];
  const service = `src/domain/${collection}/${noun}.service.ts`;
  const why = own === undefined ? 'by the conflict of its kind' : `as conflicts in ${file} say`;
  throw new Error(`${operation.operationId} got ${response.status}: ${service} has to refuse it, ${why}.`);
}

/** A row of another noun names it, which keeps it from being deleted. */
async function whileNamed({ noun }: TestedNoun, { method }: Operation, store: Store): Promise<Conflict | undefined> {
  for (const { noun: other, path } of method === 'DELETE' ? testedNouns : []) {
    const [property] = Object.entries(referencesOf(other)).find(([, named]) => named === noun) ?? [];
    const body = property === undefined ? undefined : await store.creationOf(path);
    if (property !== undefined && body !== undefined) {
      return { before: [{ method: 'POST', url: path, body: { ...body, [property]: ':id' } }] };
    }
  }
  return undefined;
}

/** A second request with the key of one that waits for a lock of another transaction. */
async function stillRunning(operation: Operation, store: Store): Promise<ReceivedResponse[]> {
  const request = await store.goodRequest(operation);
  const keyed = withHeader(request, 'idempotency-key', `${operation.operationId}, still running`);
  const { running, response } = await store.whileLocked(async () => {
    const first = store.ask(keyed);
    await store.lockWait();
    return { running: first, response: await store.ask(keyed) };
  });
  await running;
  return [response];
}

function withId(request: Ask, id: string): Ask {
  return { ...request, url: request.url.replace(/\d+(?=\D*$)/, id) };
}

function withHeader(request: Ask, name: string, value: string): Ask {
  return { ...request, headers: { ...request.headers, [name]: value } };
}

function without(headers: Ask['headers'], name: string): Ask['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([each]) => each !== name));
}
