import { expect, it } from '@jest/globals';

import { message } from '../../platform/postgres/message.ts';
import { startCluster } from '../../support/started-cluster.ts';
import { SeededRandom } from '../../support/seeded-random.ts';
import { Service } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { DamagingProxy } from './damaging-proxy.ts';

/** `DAMAGED_MESSAGES=20000` is the long form, `DAMAGE_SEED` repeats a run that failed. */
const wanted = Number(process.env['DAMAGED_MESSAGES'] ?? 80);
const seed = Number(process.env['DAMAGE_SEED'] ?? Date.now() % 2 ** 31);
const random = new SeededRandom(seed);
const share = 0.02;
const petCount = 60;

const cluster = await startCluster();

const proxy = await DamagingProxy.start({ port: cluster.port, messagesOfStart: 30, random, framing: lengthOf, damage });
const url = cluster.url.replace(`:${cluster.port}/`, `:${proxy.port}/`);
const service = await Service.start({ DATABASE_URL: url, DATABASE_POOL: '6', LOG_LEVEL: 'error' });
const key = await service.createKey();
await cluster.sql(
  `insert into categories (name) values ('Dogs');
   with added as (
     insert into pets (name, category_id) select 'pet-' || n, 1 from generate_series(1, ${petCount}) as n order by n returning id
   ) insert into inventory (pet_id, quantity) select id, id from added`,
);

function lengthOf(bytes: Buffer): number | undefined {
  return bytes.length < 5 ? undefined : 1 + bytes.readUInt32BE(1);
}

const numbers = (...values: number[]): Buffer => Buffer.concat(values.map((value) => message('', '', value)));
const codes = '123ACDEGHIKNRSTVWZcdnstv\0'.split('');
/** What a server says, and what it would never say here. */
const injected: readonly Buffer[] = [
  ...codes.map((code) => message(code)),
  message('Z', 'I'),
  message('Z', 'T'),
  message('C', 'SELECT 1\0'),
  message('C', 'COMMIT\0'),
  message('D', Buffer.from('00010000000131', 'hex')),
  message('D', Buffer.from('7fff', 'hex')),
  message('D', Buffer.from('ffff', 'hex')),
  message('T', Buffer.from('01f4', 'hex')),
  message('E', 'SERROR\0C57014\0Mno\0\0'),
  message('E', 'SERROR\0C57014\0Mno'),
  message('N', 'SWARNING\0C01000\0Mno\0\0'),
  message('R', numbers(3)),
  message('R', numbers(5, 7)),
  message('R', numbers(10)),
  message('R', numbers(0)),
  message('R', numbers(99)),
  message('K', numbers(1, 2)),
  message('A', Buffer.from('00000001610062', 'hex')),
  message('S', 'in_hot_standby\0off\0'),
  message('S', 'in_hot'),
];

/** Of a row: its head, the number of its columns, and the length of the first. */
const bytesBeforeTexts = 11;

function damage(original: Buffer): Buffer {
  const [code, content] = [String.fromCharCode(original[0]!), original.subarray(5)];
  const flipped = (): Buffer => {
    const bytes = Buffer.from(original);
    // Nothing can know that a text of a row is another one.
    const at = random.below(code === 'D' ? Math.min(bytesBeforeTexts, bytes.length) : bytes.length);
    bytes[at] = bytes[at]! ^ (1 << random.below(8));
    return bytes;
  };
  const longer = (more: number): Buffer => message(code, content, content.length + 4 + more);
  const kinds: readonly (() => Buffer)[] = [
    flipped,
    flipped,
    () => Buffer.concat([original, original]),
    () => message(random.oneOf(codes), content),
    () => message(code, content.subarray(0, random.below(content.length + 1))),
    () => message(code, Buffer.concat([content, Buffer.alloc(1 + random.below(8))])),
    () => message(code, content, random.oneOf([0, 1, 3, 5, 2 ** 31, 2 ** 32 - 1])),
    () => longer(random.oneOf([-1, 1])),
    () => Buffer.concat([random.oneOf(injected), original]),
    () => Buffer.concat([original, random.oneOf(injected)]),
  ];
  // Only the timeout ends the wait for what doesn't come.
  const waiting = [() => Buffer.alloc(0), () => longer(2 ** 20)];
  if (random.next() < 0.01) return random.oneOf(waiting)();
  return random.oneOf(kinds)();
}

interface Answer {
  readonly what: string;
  readonly status: number;
  readonly body: unknown;
  readonly truth: unknown;
}

async function ask(what: string, path: string, truth: unknown, init: RequestInit = {}): Promise<Answer> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const response = await fetch(service.address + path, { headers, ...init });
  const body: unknown = await response.json();
  return { what, status: response.status, body, truth };
}

const petOf = (id: number) => ({ id, name: `pet-${id}`, categoryId: 1, status: 'available' });
const idsFrom = (first: number, count: number): number[] => Array.from({ length: count }, (_, index) => first + index);
let created = 0;

/** Requests of all kinds at once, each with what is true. */
function askAll(): Promise<Answer[]> {
  const pets = idsFrom(0, 16).map(() => {
    const id = 1 + random.below(petCount);
    return ask('pet', `/pets/${id}`, petOf(id));
  });
  const pages = idsFrom(0, 4).map(() => {
    const limit = 1 + random.below(20);
    return ask('page', `/pets?limit=${limit}`, idsFrom(1, limit).map(petOf));
  });
  const items = idsFrom(0, 4).map(() => {
    const id = 1 + random.below(petCount);
    const query = `{ pet(id: "${id}") { id inventory { quantity } category { name } } }`;
    const truth = { data: { pet: { id: String(id), inventory: { quantity: id }, category: { name: 'Dogs' } } } };
    return ask('graphql', '/graphql', truth, { method: 'POST', body: JSON.stringify({ query }) });
  });
  created += 1;
  const order = { quantity: created, complete: false };
  const orders = [ask('order', '/store/orders', order, { method: 'POST', body: JSON.stringify(order) })];
  return Promise.all([...pets, ...pages, ...items, ...orders]);
}

it(`whatever a damaged server says, the process lives, and each response is true or 503 (DAMAGE_SEED=${seed})`, async () => {
  const [first] = await askAll();
  expect(first).toMatchObject({ status: 200, body: first?.truth });
  proxy.share = share;
  const statuses = new Map<number, number>();
  const attack = async (): Promise<void> => {
    while (proxy.damaged < wanted) {
      for (const { what, status, body, truth } of await askAll()) {
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (status === 503) continue;
        const right = { what, status: what === 'order' ? 201 : 200, body: truth as object };
        expect({ what, status, body }).toMatchObject(right);
      }
      expect((await fetch(`${service.address}/healthz`)).status).toBe(200);
    }
  };
  await Promise.all(Array.from({ length: 4 }, attack));
  proxy.share = 0;
  await until(async () => (await askAll()).every(({ status }) => status < 300));
  console.info(`${proxy.damaged} damaged messages: ${JSON.stringify(Object.fromEntries(statuses))}`);
}, 300_000);
