import { expect, it } from '@jest/globals';
import fc from 'fast-check';

import { startTestApp } from './support/test-app.ts';

const logged: { readonly level: number; readonly msg: string; readonly err?: { readonly cause?: unknown } }[] = [];

const seed = Number(process.env['UNREADABLE_SEED'] ?? Date.now() % 2 ** 31);

const logStream = { write: (line: string) => void logged.push(JSON.parse(line)) };
const app = await startTestApp({ LOG_LEVEL: 'warn' }, { logStream });
await app.pet();

type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** Of the places in a JSON value, one has another value, or none. */
function changed(value: Json, at: number, other: Json | undefined): Json | undefined {
  const paths: (readonly string[])[] = [];
  const visit = (each: Json, path: readonly string[]): void => {
    paths.push(path);
    if (typeof each === 'object' && each !== null && !Array.isArray(each))
      for (const [name, below] of Object.entries(each)) visit(below, [...path, name]);
  };
  visit(value, []);
  const set = (each: Json, [name, ...rest]: readonly string[]): Json | undefined =>
    name === undefined
      ? other
      : JSON.parse(JSON.stringify({ ...(each as object), [name]: set((each as Record<string, Json>)[name]!, rest) }));
  return set(value, paths[at % paths.length]!);
}

const writes = [
  'createPet(input: { name: "Rex", categoryId: 1 }) { pet { id name status version nodeId category { name } } }',
  'updatePet(input: { id: 1, status: SOLD }) { pet { id status version inventory { status } } }',
  'createOrder(input: { petId: 1, shipDate: "2026-12-24T10:00:00Z" }) { order { id shipDate version complete } }',
  'updateInventory(input: { petId: 1, quantity: 3 }) { inventoryItem { status quantity version } }',
];
const tables = {
  rest: ['idempotency_records', 'answer'],
  field: ['graphql_idempotency_records', 'payload'],
  atomic: ['graphql_idempotency_records', 'payload'],
} as const;

let keys = 0;

it('a stored result that can’t be read is 503, with one line in the log that names it; any other is replayed', async () => {
  console.info({ seed });
  const property = fc.asyncProperty(
    fc.constantFrom('rest', 'field', 'atomic'),
    fc.constantFrom(...writes),
    fc.nat(100),
    fc.oneof(fc.jsonValue(), fc.constantFrom('fostered', '2026-12-24', 'yes', 1e12, undefined)),
    async (kind, write, at, other) => {
      const key = `key ${(keys += 1)}`;
      const send = () =>
        kind === 'rest'
          ? app.ask('POST', '/pets', { name: 'Rex', categoryId: 1 }, { 'idempotency-key': key })
          : app.ask(
              'POST',
              '/graphql',
              { query: `mutation ${kind === 'atomic' ? '@atomic ' : ''}{ w: ${write} }` },
              { 'idempotency-key': key },
            );
      const first = await send();
      const [table, column] = tables[kind];
      const where = `where key = $1 ${kind === 'rest' ? '' : `and field = 'w'`}`;
      const [row] = await app.sql(`select ${column} as stored from ${table} ${where}`, [key]);
      const stored = changed(row!['stored'] as Json, at, other as Json | undefined);
      await app.sql(`update ${table} set ${column} = $2 ${where}`, [key, JSON.stringify(stored ?? {})]);
      logged.length = 0;
      const { status, headers, body } = await send();
      if (status === 503) {
        expect(headers['retry-after']).toBeDefined();
        expect(logged).toMatchObject([{ level: 40, err: { cause: { message: expect.stringContaining(key) } } }]);
      } else {
        expect([status, logged]).toEqual([first.status, []]);
        if (kind !== 'rest') expect(body).toMatchObject({ data: { w: {} }, extensions: { replayed: ['w'] } });
      }
    },
  );
  await fc.assert(property, { seed, numRuns: 60, endOnFailure: true });
}, 120_000);
