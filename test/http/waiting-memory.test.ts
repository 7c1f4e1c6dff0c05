import 'reflect-metadata';

import type { AddressInfo, Socket } from 'node:net';

import type { FastifyInstance } from 'fastify';
import { describe, expect, it } from '@jest/globals';

import type { IdempotencyService } from '../../src/domain/idempotency/idempotency.service.ts';
import type { Stores } from '../../src/domain/stores.ts';
import { registerApi } from '../../src/http/api.ts';
import { createServer } from '../../src/http/server.ts';
import { readOperations } from '../../src/rest/openapi/document.ts';
import { CollectionSlots } from '../../src/rest/collection-slots.ts';
import { createRestRoutes } from '../../src/rest/routes.ts';
import { startSampleServer, waiting } from '../graphql/sample-server.ts';
import { admitAll, anyDelay } from '../support/bare-server.ts';
import { atEnd } from '../support/at-end.ts';
import { collectGarbage } from '../support/measurement.ts';
import { until } from '../support/until.ts';
import { receive, send } from '../platform/http/raw-requests.ts';

const kibibyte = 1024;
const requests = 40;

/** Whatever is asked of it waits. */
const waitingStore: unknown = new Proxy({}, { get: () => () => waiting.promise });

/** REST, whose creations wait: those with a key for their record, the others in their store. */
async function startRest(): Promise<FastifyInstance> {
  const server = createServer({ logLevel: 'silent', limits: anyDelay });
  const stores = new Proxy({} as Stores, { get: () => waitingStore });
  const once: IdempotencyService['once'] = async (_stores, _identity, work) => {
    await waiting.promise;
    return { result: await work(stores), isReplayed: false };
  };
  const routes = createRestRoutes({
    operations: readOperations(),
    prefix: '',
    stores: { for: () => stores },
    idempotency: { once } as IdempotencyService,
    collectionSlots: new CollectionSlots(server.callers.accounts, () => undefined),
    onDeprecatedCall: () => undefined,
  });
  await registerApi(server, admitAll(), [routes]);
  return listening(server);
}

async function startGraphQL(): Promise<FastifyInstance> {
  const { server } = await startSampleServer();
  return listening(server);
}

async function listening(server: FastifyInstance): Promise<FastifyInstance> {
  await server.listen({ port: 0, host: '127.0.0.1' });
  atEnd(() => server.close());
  return server;
}

function post(path: string, body: string, headers = ''): string {
  return `POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-API-Key: any\r\n${headers}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

interface Waiting {
  /** What each of these requests keeps, its connection and the client's end of that included. */
  readonly kept: number;
  /** What is counted of that in its client's account. */
  readonly counted: number;
}

/** Has so many requests wait, and measures what they keep. */
async function keptBy(server: FastifyInstance, textOf: (index: number) => string): Promise<Waiting> {
  const { promise, resolve } = Promise.withResolvers<string>();
  waiting.promise = promise;
  const before = await bytesInUse();
  const sockets: Socket[] = [];
  const { port } = server.server.address() as AddressInfo;
  for (let index = 0; index < requests; index += 1) sockets.push(await send(port, textOf(index)));
  await until(() => server.overload.waiting === requests);
  // Until the last one has been read, and waits.
  for (let tick = 0; tick < 20; tick += 1) await new Promise(setImmediate);
  const kept = ((await bytesInUse()) - before) / requests;
  const counted = server.memory.held / requests;
  resolve('');
  await Promise.all(sockets.map(receive));
  await until(() => server.overload.waiting === 0);
  return { kept, counted };
}

/** Collects twice: the memory of buffers is given back after the first time. */
async function bytesInUse(): Promise<number> {
  for (let time = 0; time < 2; time += 1) {
    collectGarbage();
    await new Promise(setImmediate);
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/**
 * What a request may have that its operation doesn't need. Each of them takes more than 256 KiB, as a text or as values,
 * so that the mean of requests with one each is beyond 64 KiB when a single kind is kept.
 */
const junk = [
  `"${'x'.repeat(900_000)}"`,
  `[${'{},'.repeat(9_899)}{}]`,
  `[${`${'9'.repeat(80)},`.repeat(9_899)}1]`,
  `{${Array.from({ length: 9_900 }, (_, index) => `"${'name'.repeat(15)}${index}":${index}`).join(',')}}`,
];

const junkOf = (index: number): string => `,"other":${junk[index % junk.length]}`;

describe('a request keeps less than 64 KiB, whatever else it has', () => {
  it('while its GraphQL operation waits, which does not declare that', async () => {
    const server = await startGraphQL();
    const query = 'query ($text: String) { wait(text: $text) }';
    // From the second time on it is known.
    for (let time = 0; time < 2; time += 1) await keptBy(server, () => post('/graphql', `{"query":"${query}"}`));
    for (const bodyOf of [
      (index: number) => `{"query":"${query}","variables":{"text":"a"${junkOf(index)}}}`,
      (index: number) => `{"query":"${query}","variables":{"text":"a"},"extensions":{"a":1${junkOf(index)}}}`,
      (index: number) => `{"query":"${query} #new ${index}","variables":{"text":"a"${junkOf(index)}}}`,
    ]) {
      const { kept } = await keptBy(server, (index) => post('/graphql', bodyOf(index)));
      expect(kept).toBeLessThan(64 * kibibyte);
    }
  });

  it('while its REST operation waits, whose schema does not name that', async () => {
    const server = await startRest();
    for (const headersOf of [() => '', (index: number) => `Idempotency-Key: ${index}\r\n`]) {
      const bodyOf = (index: number) => `{"name":"Rex","categoryId":1${junkOf(index)}}`;
      const { kept } = await keptBy(server, (index) => post('/pets', bodyOf(index), headersOf(index)));
      expect(kept).toBeLessThan(64 * kibibyte);
    }
  });
});

const documents = {
  'white space': (index: number) => `{ a${index}: wait }`.padEnd(65_536),
  'a comment': (index: number) => `{ a${index}: wait } #`.padEnd(65_536, 'x'),
  'as many fields as there may be': (index: number) => `{ wait ${'total '.repeat(990)} } #${index}`,
  'long names': (index: number) =>
    `{ wait ${Array.from({ length: 45 }, (_, field) => `a${index}x${field}${'x'.repeat(1_400)}:total`).join(' ')} }`,
};

it.each(Object.entries(documents))(
  'a new document of %s keeps what is counted of it, not more',
  async (_what, query) => {
    const server = await startGraphQL();
    const { kept, counted } = await keptBy(server, (index) =>
      post('/graphql', JSON.stringify({ query: query(index) })),
    );
    expect(kept).toBeLessThan(1.25 * counted);
  },
);

it('values that are declared keep what is counted of them, not more', async () => {
  const server = await startGraphQL();
  const query = 'query ($text: String) { wait(text: $text) }';
  for (const text of ['x'.repeat(300_000), '€'.repeat(300_000)]) {
    const { kept, counted } = await keptBy(server, () =>
      post('/graphql', JSON.stringify({ query, variables: { text } })),
    );
    expect(kept).toBeLessThan(1.25 * counted);
  }
});
