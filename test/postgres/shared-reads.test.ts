import { afterAll, beforeAll, expect, it } from '@jest/globals';

import { RequestContext, runIn } from '../../src/domain/access/current-request.ts';
import { executionMessage } from '../../src/postgres/execution-message.ts';
import type { Parameter } from '../../src/postgres/parameter.ts';
import type { PreparedQuery } from '../../src/postgres/session.ts';
import { SharedReads } from '../../src/postgres/shared-reads.ts';
import type { Id } from '../../src/domain/id.ts';
import type { Keyset } from '../../src/domain/page.ts';
import { openTestDatabase, type OpenedDatabase } from '../support/opened-database.ts';

let opened: OpenedDatabase;

beforeAll(async () => {
  opened = await openTestDatabase();
  await opened.sql(`insert into categories (name) select 'Category ' || n from generate_series(1, 5) as n`);
  await opened.sql(
    `insert into pets (name, category_id) select 'Pet ' || n, 1 + (n - 1) % 5 from generate_series(1, 50) as n`,
  );
});

afterAll(() => opened.close());

function first<Field extends string>(field: Field, limit: number): Keyset<Field> {
  return { sort: { field, direction: 'asc' }, after: undefined, before: undefined, takeLast: false, limit };
}

it('of many at the same time, each gets its own page, also where others ask for the same one', async () => {
  const { pets } = opened.database.stores;
  const ids = (from: number, step: number, length: number): string[] =>
    Array.from({ length }, (_, n) => String(from + n * step));
  await Promise.all(
    Array.from({ length: 60 }, async (_, n) => {
      const limit = 1 + (n % 3);
      const parents = n % 2 === 0 ? ['2', '4'] : ['4', '2'];
      const [page, perParent] = await Promise.all([
        pets.page({}, first('ID', limit)),
        pets.pagePerCategory(parents as Id[], {}, first('ID', limit)),
      ]);
      expect(page.rows.map(({ id }) => id)).toEqual(ids(1, 1, limit));
      expect(perParent.map(({ rows }) => rows.map(({ id }) => id))).toEqual(
        parents.map((parent) => ids(Number(parent), 5, limit)),
      );
    }),
  );
});

function callerOf(request?: RequestContext) {
  const outcome: { rows?: unknown[]; error?: Error } = {};
  return {
    outcome,
    caller: {
      request,
      resolve: (rows: unknown[]) => void (outcome.rows = rows),
      reject: (error: Error) => void (outcome.error = error),
    },
  };
}

function readOf(...values: Parameter[]): PreparedQuery<unknown> {
  return { name: 'pets', text: 'select …', values, kind: 'short', decode: (fields) => fields };
}

it('equal reads of a tick are sent once, others and those of the next tick by themselves', () => {
  const reads = new SharedReads();
  const [one, two] = [callerOf(), callerOf()];
  const sent = reads.add(readOf('1', ['a', 'b']), one.caller);
  expect(reads.add(readOf('1', ['a', 'b']), two.caller)).toBeUndefined();
  for (const other of [
    readOf('1', ['b', 'a']),
    readOf('1', ['a,b']),
    readOf('1', 'a', 'b'),
    readOf(null, ['a', 'b']),
    readOf('null', ['a', 'b']),
    readOf('1', ['a', 'ü']),
  ]) {
    expect(reads.add(other, callerOf().caller)).toBeDefined();
  }
  reads.endTick();
  expect(reads.add(readOf('1', ['a', 'b']), callerOf().caller)).toBeDefined();
  sent?.resolve(['row']);
  expect([one.outcome, two.outcome]).toEqual([{ rows: ['row'] }, { rows: ['row'] }]);
});

it('a read is sent as the message that it is known by, in which a number is the same as its text', () => {
  const reads = new SharedReads();
  const sent = reads.add(readOf(1, ['ü'], null), callerOf().caller);
  expect(sent?.message).toBe(executionMessage('pets', ['1', ['ü'], null]));
  expect(reads.add(readOf('1', ['ü'], null), callerOf().caller)).toBeUndefined();
});

it('equal reads of different clients are sent for each, so that neither waits for the other', () => {
  const reads = new SharedReads();
  const callers = ['one', 'two'].map((client) => callerOf(new RequestContext(client)));
  const sent = callers.map(({ caller }) => reads.add(readOf('1'), caller));
  expect(sent.map((pending) => pending?.subject)).toEqual(['one', 'two']);
});

it('a read that has lost the database fails the requests of all of its callers', () => {
  const reads = new SharedReads();
  const requests = [new RequestContext('one'), new RequestContext('one')];
  const callers = requests.map(callerOf);
  const [sent] = callers.map(({ caller }) => reads.add(readOf('1'), caller));
  sent?.reject(new Error('Connection terminated unexpectedly'));
  for (const [index, { outcome }] of callers.entries()) {
    expect(outcome.error).toMatchObject({ code: 'UNAVAILABLE' });
    expect(requests[index]?.failure).toBe(outcome.error);
  }
});

it("the service's own read doesn't get the failure of the request in whose context it fails", () => {
  const gone = new RequestContext('one');
  gone.abort(new Error('The client has disconnected.'));
  const { caller, outcome } = callerOf();
  const sent = new SharedReads().add(readOf('1'), caller);
  runIn(gone, () => sent?.reject(new Error('Connection terminated unexpectedly')));
  expect(outcome.error).toMatchObject({ code: 'UNAVAILABLE' });
});

it('a read that has failed takes no more callers in its tick', () => {
  const reads = new SharedReads();
  reads.add(readOf('1'), callerOf().caller)?.reject(new Error('refused'));
  const sent = reads.add(readOf('1'), callerOf().caller);
  expect(sent).toBeDefined();
  expect(reads.add(readOf('1'), callerOf().caller)).toBeUndefined();
});
