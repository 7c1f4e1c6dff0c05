import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { LookUps } from '../../../src/platform/postgres/pipeline/look-ups.ts';
import { DamagedMessage } from '../../../src/platform/postgres/connection-failure.ts';
import { UnreadableRow } from '../../../src/platform/postgres/failures.ts';
import { StatementBatch } from '../../../src/platform/postgres/statement-batch.ts';
import { type LookUp, lookUpOf, toText } from '../../../src/platform/postgres/statement.ts';
import type { Id } from '../../../src/domain/id.ts';
import { NoFreeConnection } from '../../../src/platform/postgres/connection-slots.ts';
import { firstRows } from '../../support/keyset.ts';
import { openTestDatabase } from '../../support/opened-database.ts';
import { Share } from '../../../src/platform/callers/index.ts';
import { callers, testCaller } from '../../support/caller.ts';

const opened = await openTestDatabase();
await opened.sql(`insert into categories (name) select 'Category ' || n from generate_series(1, 50) as n`);
await opened.sql(
  `insert into pets (name, category_id) select 'Pet ' || n, 1 + n % 50 from generate_series(1, 250) as n`,
);
await opened.sql('insert into inventory (pet_id, quantity) select id, 1000 + id from pets');

it('of many at the same time each gets its own row, with the related rows that it asks for, or none', async () => {
  const { pets, categories } = opened.stores;
  const ids = Array.from({ length: 240 }, (_, n) => 1 + ((n * 7919) % 300));
  await Promise.all(
    ids.map(async (n) => {
      const id = String(n) as Id;
      const [[pet], [withRelations], [category]] = await Promise.all([
        pets.byIds([id]),
        pets.byIds([id], ['category', 'inventory']),
        categories.byIds([id]),
      ]);
      if (n > 250) expect(pet).toBeUndefined();
      else expect(pet).toMatchObject({ id, name: `Pet ${n}`, status: 'available', categoryId: String(1 + (n % 50)) });
      expect(withRelations?.inventory?.quantity).toBe(n > 250 ? undefined : 1000 + n);
      expect(withRelations?.category?.name).toBe(n > 250 ? undefined : `Category ${1 + (n % 50)}`);
      expect(category?.name).toBe(n > 50 ? undefined : `Category ${n}`);
    }),
  );
});

it('of many at the same time each gets its own page, also where others ask for the same one', async () => {
  const { pets } = opened.stores;
  const ids = (from: number, step: number, length: number): string[] =>
    Array.from({ length }, (_, n) => String(from + n * step));
  await Promise.all(
    Array.from({ length: 60 }, async (_, n) => {
      const keyset = firstRows(1 + (n % 3));
      const parents = n % 2 === 0 ? ['2', '4'] : ['4', '2'];
      const [page, perParent] = await Promise.all([
        pets.page({}, keyset),
        pets.pagePerParent({ property: 'categoryId', ids: parents as Id[] }, {}, keyset),
      ]);
      expect(page.rows.map(({ id }) => id)).toEqual(ids(1, 1, keyset.limit));
      expect(perParent.map(({ rows }) => rows.map(({ id }) => id))).toEqual(
        parents.map((parent) => ids(Number(parent) - 1, 50, keyset.limit)),
      );
    }),
  );
});

interface Row {
  readonly kind: string;
  readonly id: string;
}

const rowsOf = (kind: string): LookUp<Row> =>
  lookUpOf(
    kind,
    1,
    ([id]) => {
      if (id === 'newer') throw new UnreadableRow(kind, id, 'status', 'lost');
      return { kind, id: String(id) };
    },
    ({ id }) => id,
  );

/** Look-ups whose statements are kept, and get the rows that they ask for, or what `respond` returns or throws. */
function lookUpsSent(respond: (text: string, ids: readonly string[]) => void = () => undefined) {
  const sent: { readonly text: string; readonly client: string; readonly ids: readonly string[] }[] = [];
  const reads = new Share(callers.accounts, { ofClient: 2, ofAll: Infinity, refuse: () => new Error('refused') });
  const lookUps = new LookUps({
    tryTake: (caller) => reads.tryTake(caller),
    read: async ({ statement: { text, decode }, values }, asking) => {
      const ids = (values as readonly (string | readonly string[])[]).flat();
      sent.push({ text, client: [...new Set(asking.map(({ id }) => id))].join(), ids });
      respond(text, ids);
      return ids.toReversed().map((id) => decode([id]));
    },
  });
  return { lookUps, sent, reads, endTick: () => lookUps.readAll() };
}

it('look-ups of each kind are statements of at most 100 ids, and one alone is a statement of its own', async () => {
  const { lookUps, sent, endTick } = lookUpsSent();
  const [pets, orders] = [rowsOf('pets'), rowsOf('orders')];
  const rows = Array.from({ length: 201 }, (_, n) => lookUps.load(pets, testCaller, String(n)));
  const order = lookUps.load(orders, testCaller, '0');
  expect(sent).toEqual([]);
  endTick();
  expect(sent.map(({ text, ids }) => [text, ids.length])).toEqual([
    ['pets any($1::bigint[])', 100],
    ['pets any($1::bigint[])', 100],
    ['pets $1::bigint', 1],
    ['orders $1::bigint', 1],
  ]);
  expect(await Promise.all(rows)).toEqual(Array.from({ length: 201 }, (_, n) => ({ kind: 'pets', id: String(n) })));
  expect(await order).toEqual({ kind: 'orders', id: '0' });
});

it('look-ups of all clients in a tick are one statement, but not those of a client that has many, or too many under way', async () => {
  const { lookUps, sent, reads, endTick } = lookUpsSent();
  const pets = rowsOf('pets');
  const load = (client: string) => lookUps.load(pets, callers.for(client), '1');
  const greedy = Array.from({ length: 11 }, () => 'greedy');
  const full = [reads.takeNow({ id: 'full' }), reads.takeNow({ id: 'full' })];
  const rows = ['one', 'two', 'full', 'one', ...greedy].map(load);
  endTick();
  expect(reads.heldBy({ id: 'one' })).toBe(1);
  rows.push(load('one'));
  endTick();
  expect(sent.map(({ client, ids }) => `${client}: ${ids.length}`)).toEqual([
    'full: 1',
    'greedy: 11',
    'one,two: 3',
    'one: 1',
  ]);
  await Promise.all(rows);
  for (const lease of full) lease.release();
  await new Promise(setImmediate);
  expect(reads.held).toBe(0);
});

describe('look-ups that fail together', () => {
  const pets = rowsOf('pets');
  /** Three look-ups, of which the second is for a client that has disconnected. */
  const failTogether = async (failure: Error, alone?: Error) => {
    const { lookUps, sent, endTick } = lookUpsSent((text) => {
      const error = text === pets.byAnyId.text ? failure : alone;
      if (error !== undefined) throw error;
    });
    const gone = callers.for('one');
    gone.abort(new Error('The client has disconnected.'));
    const requests = [callers.for('one'), gone, callers.for('one')];
    const loads = requests.map((caller, index) => lookUps.load(pets, caller, String(index)));
    const outcomes = Promise.allSettled(loads);
    endTick();
    return { outcomes: await outcomes, requests, alone: sent.slice(1).map(({ ids }) => ids.join()) };
  };

  it('are retried alone, but not for a request that is lost', async () => {
    const { outcomes, alone } = await failTogether(new Error('invalid page in block 7'));
    expect(alone).toEqual(['0', '2']);
    expect(outcomes).toMatchObject([
      { value: { id: '0' } },
      { reason: { message: 'The client has disconnected.' } },
      { value: { id: '2' } },
    ]);
  });

  it('and alone again, fail', async () => {
    const error = new Error('invalid page in block 7');
    const { outcomes } = await failTogether(error, error);
    expect(outcomes).toMatchObject([{ reason: error }, { status: 'rejected' }, { reason: error }]);
  });

  it('because the one that has waited longest had no time left, wait alone for the rest of their own', async () => {
    const { outcomes, alone } = await failTogether(new NoFreeConnection('earlier reads of your key'));
    expect(alone).toEqual(['0', '2']);
    expect(outcomes).toMatchObject([{ value: { id: '0' } }, { status: 'rejected' }, { value: { id: '2' } }]);
  });

  it.each([
    ['lost', new Error('Connection terminated unexpectedly')],
    ['timeout', Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' })],
  ])('because the database is slow or gone (%s), fail with their requests', async (reason, error) => {
    const { outcomes, requests, alone } = await failTogether(error);
    expect(alone).toEqual([]);
    const [first, gone, last] = requests.map(({ failure }) => failure);
    expect([first, last]).toMatchObject([{ reason }, { reason }]);
    expect(outcomes).toMatchObject([{ reason: first }, { reason: gone }, { reason: last }]);
  });
});

it.each([
  ['one', '6', '10', 'byId'],
  ['several', ['6', '7'], '10', 'byAnyId'],
  ['one, which this version can read, but not the other', '6', 'newer', 'byAnyId'],
] as const)('of %s a row that nobody has asked for is no response', (_what, asked, received, form) => {
  const { [form]: statement } = rowsOf('pets');
  const respond = (id: string): void => {
    const batch = new StatementBatch([{ statement, values: [asked] }], () => undefined);
    batch.handleDataRow({ fields: [id] });
    batch.handleCommandComplete({ text: 'SELECT 1' });
  };
  respond('6');
  expect(() => respond(received)).toThrow(DamagedMessage);
});

it("the service's own work goes on after its look-up has lost the database", async () => {
  const { lookUps, endTick } = lookUpsSent(() => {
    throw new Error('Connection terminated unexpectedly');
  });
  const load = lookUps.load(rowsOf('pets'), testCaller, '1');
  endTick();
  await expect(load).rejects.toMatchObject({ reason: 'lost' });
  expect(testCaller.failure).toBeUndefined();
});

it('PostgreSQL reads a list of any texts as it was', async () => {
  const texts = fc.oneof(
    fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0')),
    fc.string({ unit: fc.constantFrom('"', '\\', '{', '}', ',', ' ', '\t', '\n', '\u007f', '\u2028', '😀', 'ä', '1') }),
    fc.constantFrom(null, 'NULL', ''),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(texts), async (list) => {
      expect(await opened.sql('select $1::text[] as list', [toText(list)])).toEqual([{ list }]);
    }),
  );
});
