import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import type { Bound } from '../../src/http/bounds/bounds.ts';
import { Accounts } from '../../src/account/accounts.ts';
import type { Lease } from '../../src/account/share.ts';
import { createResponseMemory } from '../../src/http/bounds/response-memory.ts';
import { startTestApp, type GraphQLResult, type TestApp } from '../support/test-app.ts';

const refusals: Bound[] = [];
const limits = { maxResponseBytesOfKey: 30, maxResponseBytesOfAll: 50, responseWaitMillis: 60_000 };

/** What still waits when its test ends is refused a minute later. */
const ignoreRefusal = (): void => undefined;

/** Reserves memory, and records in which order it is granted. */
class Queue {
  readonly order: string[] = [];
  readonly held = new Map<string, Lease>();
  readonly #memory = createResponseMemory(new Accounts(), (bound) => refusals.push(bound), limits);

  /** `a1` is of the key `a`. */
  async reserve(bytes: number, ...names: string[]): Promise<void> {
    for (const name of names) {
      this.#memory.take({ id: name.charAt(0) }, bytes).then((reservation) => {
        this.order.push(name);
        this.held.set(name, reservation);
      }, ignoreRefusal);
    }
    await new Promise(setImmediate);
  }

  async release(name: string): Promise<void> {
    this.held.get(name)!.release();
    await new Promise(setImmediate);
  }
}

describe('memory for large responses', () => {
  it('is bounded for a key, and for all', async () => {
    const queue = new Queue();
    await queue.reserve(10, 'a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'b3');
    expect(queue.order).toEqual(['a1', 'a2', 'a3', 'b1', 'b2']);
    await queue.release('a1');
    expect(queue.order.at(-1)).toBe('a4');
    await queue.release('b1');
    expect(queue.order.at(-1)).toBe('b3');
  });

  it('is not waited for by a request whose client has disconnected', async () => {
    const memory = createResponseMemory(new Accounts(), (bound) => refusals.push(bound), limits);
    const held = await memory.take({ id: 'a' }, 30);
    const client = new AbortController();
    const waiting = memory.take({ id: 'a', signal: client.signal }, 30);
    client.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    held.release();
    await memory.take({ id: 'a' }, 30);
  });

  it('is available for one response of any size', async () => {
    const queue = new Queue();
    await queue.reserve(1_000, 'a1', 'b1');
    expect(queue.order).toEqual(['a1']);
    await queue.release('a1');
    expect(queue.order).toEqual(['a1', 'b1']);
  });

  it('is available to others as soon as a response turns out smaller', async () => {
    const queue = new Queue();
    await queue.reserve(30, 'a1', 'a2');
    queue.held.get('a1')!.resize(0);
    await new Promise(setImmediate);
    expect(queue.order).toEqual(['a1', 'a2']);
  });

  it('is released for good when the client disconnects, even if the response is made afterwards', async () => {
    const queue = new Queue();
    await queue.reserve(30, 'a1');
    await queue.release('a1');
    queue.held.get('a1')!.resize(30);
    await queue.reserve(30, 'a2');
    expect(queue.order).toEqual(['a1', 'a2']);
  });

  it('is taken by waiting keys one after another', async () => {
    const queue = new Queue();
    await queue.reserve(50, 'c1');
    await queue.reserve(20, 'a1', 'a2', 'a3', 'b1');
    await queue.release('c1');
    expect(queue.order).toEqual(['c1', 'a1', 'b1']);
    await queue.release('a1');
    expect(queue.order).toEqual(['c1', 'a1', 'b1', 'a2']);
  });

  it('is refused after a while, and later requests are not delayed by that', async () => {
    const memory = createResponseMemory(new Accounts(), (bound) => refusals.push(bound), {
      ...limits,
      responseWaitMillis: 10,
    });
    refusals.length = 0;
    const reservation = await memory.take({ id: 'a' }, 30);
    await expect(memory.take({ id: 'a' }, 30)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(refusals).toEqual(['unread_responses']);
    reservation.release();
    await memory.take({ id: 'a' }, 30);
  });
});

describe('requests whose responses can be large', () => {
  let service: TestApp;
  let keyId: string;
  let get: (path: string) => Promise<number>;
  let send: (query: string, variables?: Record<string, unknown>) => Promise<GraphQLResult>;

  beforeAll(async () => {
    service = await startTestApp({}, { httpLimits: { maxResponseBytesOfKey: 1, responseWaitMillis: 1 } });
    const { id, secret } = await service.createKey({ plan: 'business' });
    keyId = id;
    get = async (url) => (await service.app.server.inject({ url, headers: { 'x-api-key': secret } })).statusCode;
    send = (query, variables) => service.graphql(query, variables, secret);
  });

  afterAll(() => service.close());

  const page = 'edges { node { name category { name description a: description } } }';

  it('are refused 503 before they are executed while others of the key use the memory', async () => {
    const other = await service.app.server.responseMemory.take({ id: keyId }, 1);
    const { status, errors, headers } = await send(`{ pets(first: 100) { ${page} } }`);
    expect([status, errors[0]!.extensions.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect((await send(`{ pets(first: 5) { ${page} } }`)).status).toBe(200);
    expect((await service.graphql(`{ pets(first: 100) { ${page} } }`)).status).toBe(200);
    other.release();
    for (let time = 0; time < 3; time += 1) expect((await send(`{ pets(first: 100) { ${page} } }`)).status).toBe(200);
  });

  it('are known by their page sizes, also those in variables', async () => {
    const other = await service.app.server.responseMemory.take({ id: keyId }, 1);
    const query = `query ($n: Int!) { pets(first: $n) { ${page} } }`;
    expect((await send(query, { n: 5 })).status).toBe(200);
    expect((await send(query, { n: 100 })).status).toBe(503);
    other.release();
  });

  it('are also pages of REST, by their limit and their longest rows', async () => {
    const other = await service.app.server.responseMemory.take({ id: keyId }, 1);
    expect(await get('/categories?limit=1000')).toBe(503);
    for (const path of ['/categories?limit=10', '/inventory?limit=1000', '/pets?limit=100'])
      expect(await get(path)).toBe(200);
    other.release();
    for (let time = 0; time < 3; time += 1) expect(await get('/categories?limit=1000')).toBe(200);
  });
});
