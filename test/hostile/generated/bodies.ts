import fc from 'fast-check';

import { pause, statusOn, times } from '../raw-requests.ts';
import { kindOf, type Scene } from './act.ts';

/** Values of JSON of so many items, on both sides of what is allowed. */
const items = fc.record({
  item: fc.constantFrom('{}', '[]', '9e99', '9007199254740993', '-1.5', 'null', '"x"', '{"a":1}', '"\\u0041"'),
  count: fc.oneof(fc.integer({ min: 0, max: 50 }), fc.integer({ min: 4_000, max: 11_000 }), fc.nat({ max: 300_000 })),
});

/** A value, and whether it has more items than a body may have. */
const value = fc.oneof(
  items.map(({ item, count }) => ({
    json: `[${Array<string>(count).fill(item).join(',')}]`.slice(0, 1_200_000),
    isTooMany: count > 10_000,
  })),
  fc.nat({ max: 1_000_000 }).map((length) => ({ json: `"${'x'.repeat(length)}"`, isTooMany: false })),
  fc.nat({ max: 900_000 }).map((length) => ({ json: `1${'0'.repeat(length)}`, isTooMany: false })),
  fc.nat({ max: 2_000 }).map((depth) => ({ json: '['.repeat(depth) + ']'.repeat(depth), isTooMany: depth > 500 })),
);

const plan = fc.record({
  count: fc.integer({ min: 1, max: 30 }),
  key: fc.nat(),
  /** Where the value is: `VALUE`. */
  body: fc.constantFrom(
    ['/graphql', '{"query":"{ rateLimit { cost } }","variables":{"a":VALUE}}'],
    [
      '/graphql',
      '{"query":"query ($a: [ID!]) { pets(filter: { categoryIdIn: $a }) { totalCount } }","variables":{"a":VALUE}}',
    ],
    [
      '/graphql',
      '{"query":"mutation { updatePet(input: { id: 1, name: \\"x\\" }) { pet { id } } }","extensions":{"a":VALUE}}',
    ],
    ['/graphql', '{"query":"{ new: rateLimit { cost } } #NUMBER","variables":{"query":VALUE}}'],
    ['/pets', '{"name":"generated","categoryId":1,"other":VALUE}'],
    ['/pets', '{"name":VALUE,"categoryId":1}'],
  ),
  value,
  hasIdempotencyKey: fc.boolean(),
  /** In how many pieces it comes, and whether all of them do. */
  pieces: fc.oneof(fc.constant(1), fc.integer({ min: 2, max: 8 })),
  isComplete: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
});

type Plan = typeof plan extends fc.Arbitrary<infer Value> ? Value : never;

async function sendBody({ body: [path, template], ...of }: Plan, scene: Scene, index: number): Promise<string> {
  const number = `${index}x${Math.random()}`;
  const body = template.replace('NUMBER', number).replace('VALUE', of.value.json);
  const idempotency = of.hasIdempotencyKey ? `Idempotency-Key: ${number}\r\n` : '';
  const key = scene.keys[of.key % scene.keys.length]!;
  const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n${idempotency}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`;
  const text = head + (of.isComplete ? body : body.slice(0, -1));
  const length = Math.ceil(text.length / of.pieces);
  const socket = await scene.target.send(text.slice(0, length));
  const answered = statusOn(socket);
  for (let piece = 1; piece < of.pieces; piece += 1) {
    await pause(0.02);
    if (!socket.destroyed) socket.write(text.slice(piece * length, (piece + 1) * length));
  }
  const status = of.isComplete ? await answered : await Promise.race([answered, pause(0.5).then(() => 'left')]);
  socket.resetAndDestroy();
  return status;
}

/** Bodies of one key, at once: most of what they have is asked for by nobody. */
export const bodies = kindOf('bodies', plan, async (each, scene) => {
  const outcomes = await Promise.all(times(each.count, (index) => sendBody(each, scene, index)));
  if (outcomes.includes('500')) throw new Error('A body was answered 500.');
  if (each.value.isTooMany && outcomes.some((status) => status.startsWith('20')))
    throw new Error('A body beyond the limits was taken.');
  return outcomes.map((outcome) => `body ${outcome}`);
});
