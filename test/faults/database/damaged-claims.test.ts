import { expect, it } from '@jest/globals';

import { message } from '../../platform/postgres/message.ts';
import { SeededRandom } from '../../support/seeded-random.ts';
import { startCluster } from '../../support/started-cluster.ts';
import { listenHere } from '../../support/test-app.ts';
import { until } from '../../support/until.ts';
import { DamagingProxy } from './damaging-proxy.ts';

const record = { kind: 'response', field: '', fingerprint: '', result: '{}' };

/** What is no claim, though it is JSON, and is none of a newer version either. */
const damagedClaims: readonly unknown[] = [
  0,
  1,
  true,
  '',
  'running',
  {},
  [],
  record,
  [null],
  [[]],
  [0],
  ['running'],
  [{}],
  ...['kind', 'field', 'fingerprint', 'result'].flatMap((name) =>
    [null, 0, {}, []].map((value) => [{ ...record, [name]: value }]),
  ),
  [{ ...record, kind: 'another' }],
  ...['{', '{"status"', 'nothing'].map((result) => [{ ...record, result }]),
  [record, null],
];

let claim: string | undefined;

function damage(original: Buffer): Buffer {
  const isClaim =
    claim !== undefined && String.fromCharCode(original[0]!) === 'D' && original.includes('"fingerprint"');
  if (!isClaim) return original;
  const text = Buffer.from(claim!);
  const head = Buffer.alloc(6);
  head.writeInt16BE(1);
  head.writeInt32BE(text.length, 2);
  return message('D', Buffer.concat([head, text]));
}

const cluster = await startCluster();
const proxy = await DamagingProxy.start({
  port: cluster.port,
  messagesOfStart: 0,
  random: new SeededRandom(1),
  framing: (bytes) => (bytes.length < 5 ? undefined : 1 + bytes.readUInt32BE(1)),
  damage,
});
proxy.share = 1;

it('a damaged claim of an Idempotency-Key is 503 with Retry-After, and the key is found again on another connection', async () => {
  const service = await listenHere({ DATABASE_URL: cluster.url.replace(`:${cluster.port}/`, `:${proxy.port}/`) });
  const create = () => service.post('/categories', { name: 'Dogs' }, { 'idempotency-key': 'once' });
  const first = await create();
  expect(first.status).toBe(201);
  for (const damaged of damagedClaims) {
    claim = JSON.stringify(damaged);
    const { status, headers } = await create();
    expect([claim, status, headers.has('retry-after')]).toEqual([claim, 503, true]);
    claim = undefined;
    // PostgreSQL notices the end of the connection, which had the key, a moment later.
    let again = await create();
    await until(async () => again.status !== 409 || (again = await create()).status !== 409);
    expect([again.status, again.headers.get('idempotent-replayed'), again.body]).toEqual([201, 'true', first.body]);
  }
  expect(await cluster.sql('select name from categories')).toEqual([{ name: 'Dogs' }]);
  await service.close();
});
