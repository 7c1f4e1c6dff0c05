import type { Socket } from 'node:net';

import fc from 'fast-check';

import { pause, statusOn, times } from '../raw-requests.ts';
import { kindOf, type Scene } from './act.ts';

/** What a subscription selects below `object`: aliases of a long or a short field, of names of any length. */
const selection = fc
  .record({
    field: fc.oneof(
      { weight: 2, arbitrary: fc.constant('description') },
      { weight: 1, arbitrary: fc.constantFrom('name', 'nodeId', 'version', 'id', '__typename') },
    ),
    aliases: fc.oneof(fc.constant(49), fc.integer({ min: 1, max: 49 })),
    length: fc.oneof(fc.constant(49), fc.integer({ min: 49, max: 2_000 }), fc.integer({ min: 49, max: 60_000 })),
  })
  .map(({ field, aliases, length }) => {
    const names = times(aliases, (index) => `${'a'.repeat(length / aliases)}${index}: ${field}`);
    return `object { ... on Category { ${names.join(' ')} } }`;
  });

/** What makes a request large, though nothing of it is needed. */
const padding = fc.oneof(
  fc.constant(''),
  fc.integer({ min: 1, max: 63_000 }).map((length) => ' '.repeat(length)),
  fc.integer({ min: 1, max: 63_000 }).map((length) => `#${'x'.repeat(length)}\n`),
  fc.integer({ min: 1, max: 1_500 }).map((count) => 'type '.repeat(count)),
);

/** What no operation declares; the longest lists are too long for a body. */
const junk = fc.oneof(
  { weight: 3, arbitrary: fc.constant('0') },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 9_000 }).map((count) => `[${'{},'.repeat(count)}{}]`) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 900_000 }).map((length) => `"${'x'.repeat(length)}"`) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 300_000 }).map((count) => `[${'{},'.repeat(count)}{}]`) },
);

/** Everything is read at once, a chunk now and then, or nothing. */
const everyMillis = fc.oneof(fc.constant(0), fc.integer({ min: 20, max: 500 }), fc.constant(Infinity));

const plan = fc.record({
  count: fc.integer({ min: 1, max: 20 }),
  key: fc.nat(),
  selection,
  /** Each stream of the act has a text of its own, or all have one. */
  isOwn: fc.boolean(),
  padding,
  junk,
  /** Ids that it filters by; undefined for no filter. */
  ids: fc.option(fc.integer({ min: 0, max: 1_000 }), { nil: undefined }),
  isFromBeginning: fc.boolean(),
  accept: fc.constantFrom('text/event-stream', 'multipart/mixed;subscriptionSpec=1.0'),
  everyMillis,
  /** How long the act lasts. Then its streams are left, some of them before there is a response, or go on. */
  seconds: fc.double({ min: 0, max: 1, noNaN: true }),
  ends: fc.constantFrom('goes on', 'goes on', 'is left', 'is left early'),
});

/** Streams that go on at a time. */
const maxOpen = 400;

type Plan = typeof plan extends fc.Arbitrary<infer Value> ? Value : never;

function requestOf(
  { selection: text, isOwn, padding: rest, junk: value, ids, accept, ...of }: Plan,
  scene: Scene,
  index: number,
): string {
  const query = `subscription S($after: ID, $filter: EventFilter) { events(after: $after, filter: $filter) { id type ${text} ${rest} ${isOwn ? `own${index}: at` : ''} } }`;
  const filter =
    ids === undefined
      ? 'null'
      : JSON.stringify({ nodeIdIn: times(ids, (each) => scene.nodeIds[each % scene.nodeIds.length]) });
  const after = JSON.stringify(of.isFromBeginning ? scene.cursor : null);
  const body = `{"query":${JSON.stringify(query)},"variables":{"after":${after},"filter":${filter},"junk":${value}}}`;
  const key = scene.keys[of.key % scene.keys.length]!;
  return `POST /graphql HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nAccept: ${accept}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** Reads as the plan has it from the head of the response on, and says the status. */
async function read(socket: Socket, { everyMillis: every, seconds, ends }: Plan, { open }: Scene): Promise<string> {
  const status = ends === 'is left early' ? ends : await statusOn(socket);
  if (every === 0) socket.resume();
  else socket.on('data', () => socket.pause());
  const reading = every > 0 && every < Infinity ? setInterval(() => socket.resume(), every) : undefined;
  socket.once('close', () => clearInterval(reading));
  await pause(seconds);
  open.push(socket);
  if (ends !== 'goes on') socket.resetAndDestroy();
  return status;
}

/** Streams of one key, opened at once. */
export const streams = kindOf('streams', plan, async (each, scene) => {
  const outcomes = await Promise.all(
    times(each.count, async (index) => read(await scene.target.send(requestOf(each, scene, index)), each, scene)),
  );
  // The others go on until there are too many.
  for (const socket of scene.open.splice(0, Math.max(0, scene.open.length - maxOpen))) socket.resetAndDestroy();
  if (outcomes.includes('500')) throw new Error('A stream was answered 500.');
  return outcomes.map((outcome) => `stream ${outcome}`);
});

/** Changes of categories with descriptions of any length, for streams to send. */
export const writes = kindOf(
  'writes',
  fc.record({
    count: fc.integer({ min: 1, max: 30 }),
    length: fc.integer({ min: 0, max: 2_000 }),
    letter: fc.constantFrom('x', '"', '\u{1F408}'),
  }),
  ({ count, length, letter }, { target, keys: [key] }) =>
    Promise.all(
      times(count, async (index) => {
        const body = JSON.stringify({ description: letter.repeat(length) + index });
        const headers = { 'content-type': 'application/json' };
        const { status } = await target.request(`/categories/${1 + index}`, { method: 'PATCH', headers, body }, key);
        return `write ${status}`;
      }),
    ),
);
