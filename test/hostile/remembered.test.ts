import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';

import { expect, it } from '@jest/globals';

import { atEnd } from '../support/at-end.ts';
import { program, Service } from '../support/service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { copyEmbeddedStore } from '../support/test-database.ts';
import { until } from '../support/until.ts';
import { readHeap, type Heap } from './heap.ts';
import { times } from './raw-requests.ts';

const snapshots = temporaryDirectory();
const sockets: Socket[] = [];

const command = `node --heapsnapshot-signal=SIGUSR2 --diagnostic-dir=${snapshots} ${program}`;
const service = await Service.start(await copyEmbeddedStore(), { command });

atEnd(() => sockets.forEach((socket) => socket.destroy()));

/** After all garbage has been collected. */
async function takeSnapshot(): Promise<Heap> {
  const before = readdirSync(snapshots);
  service.signal('SIGUSR2');
  const isNew = (name: string): boolean => !before.includes(name);
  await until(() => readdirSync(snapshots).some(isNew), { maxMillis: 60_000 });
  // The service does nothing else until it is written.
  await service.get('/healthz');
  return readHeap(join(snapshots, readdirSync(snapshots).find(isNew)!));
}

const mark = 'sent-to-open-a-stream';
const kibibyte = 1024;

/** Requests as large as the limits let them be, of which streams need next to nothing. */
const requests: readonly ((index: number) => object)[] = [
  (index) => ({ query: `#${mark}${'c'.repeat(60_000)}\nsubscription S${index} { events { id } }` }),
  (index) => ({ query: `#${mark}\nsubscription S${index} { events {${' '.repeat(60_000)}id } }` }),
  (index) => ({ query: `#${mark}\nsubscription S${index} { events { ${'a'.repeat(20_000)}: id } }` }),
  (index) => ({
    query: `#${mark}\nsubscription ${mark.replaceAll('-', '_')}${'n'.repeat(50_000)}${index} { events { id } }`,
  }),
  (index) => ({ query: `#${mark}\nsubscription S${index} { events { ${'type '.repeat(990)} } }` }),
  (index) => ({
    query: `#${mark}\nsubscription S${index} { events { id } }`,
    variables: { junk: mark + 'j'.repeat(900 * kibibyte) },
  }),
  (index) => ({
    query: `#${mark}\nsubscription S${index} { events { id } }`,
    variables: { junk: times(3_000, (each) => ({ [`${mark}${each}`]: mark })) },
  }),
  (index) => ({
    query: `#${mark}\nsubscription S${index}($f: EventFilter) { events(filter: $f) { id } }`,
    variables: { f: { typeIn: times(1_000, () => 'PET_CREATED') } },
  }),
  (index) => ({
    query: `#${mark}\nsubscription S${index}($f: EventFilter) { events(filter: $f) { id } }`,
    variables: { f: { nodeIdIn: times(1_000, () => nodeIds[index % nodeIds.length]) } },
  }),
];
const nodeIds: string[] = [];

async function open(key: string, body: object): Promise<void> {
  const text = JSON.stringify(body);
  const socket = connect(service.port, '127.0.0.1');
  sockets.push(socket);
  let received = '';
  socket.on('data', (chunk) => (received += String(chunk)));
  socket.write(
    `POST /graphql HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nX-Sent: ${mark}${'h'.repeat(10_000)}\r\nAccept: text/event-stream\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
  await until(() => received.includes('\n:\n\n') || received.includes('error'));
  expect(received.slice(0, 400)).toMatch(/^HTTP\/1.1 200/);
  expect(received).not.toContain('error');
}

it('of 100 streams that were opened by large requests nothing is kept but what they need', async () => {
  const created = await service.graphql('mutation { createCategory(input: { name: "c" }) { category { nodeId } } }');
  nodeIds.push(created.body.data.createCategory.category.nodeId as string);
  const keys: string[] = [];
  for (const index of times(10, (each) => each)) {
    const { body } = await service.graphql(
      `mutation { createApiKey(input: { name: "k${index}", plan: BUSINESS }) { secret } }`,
    );
    keys.push(body.data.createApiKey.secret as string);
  }
  // What a process keeps of documents, texts and keys, however many streams there are.
  for (const [index, request] of requests.entries()) await open(keys[0]!, request(index));
  for (const socket of sockets.splice(0)) socket.destroy();
  const before = await takeSnapshot();
  for (const index of times(100, (each) => each))
    await open(keys[index % keys.length]!, requests[index % requests.length]!(index + 100));
  const { bytes, count, strings } = await takeSnapshot();
  expect(strings.filter((text) => text.includes(mark))).toEqual([]);
  // Fastify's requests and replies; what graphql-js has for each document, with its text.
  for (const className of ['_Request', '_Reply', 'Token', 'Location', 'Source'])
    expect([className, count(className)]).toEqual([className, before.count(className)]);
  expect((bytes - before.bytes) / 100 / kibibyte).toBeLessThan(32);
  expect(count('FeedStream')).toBe(100);
}, 300_000);
