import { beforeEach, expect, it } from '@jest/globals';

import { operator, serviceItself } from '../../src/domain/access/principal.ts';
import { AccessService } from '../../src/domain/access/access.service.ts';
import { KeyChangeLog } from '../../src/keys/key-change-log.ts';
import type { NamedKeyChange } from '../../src/domain/access/key-records.ts';
import { openTestDatabase } from '../support/opened-database.ts';
import { serverUrl } from '../support/template-database.ts';
import { until } from '../support/until.ts';
import { testCaller } from '../support/caller.ts';

/** A process that reports changes. */
class Reporter {
  readonly changes: NamedKeyChange[] = [];
  readonly more: { readonly count: number; readonly first: NamedKeyChange }[] = [];
  readonly #log = new KeyChangeLog({
    changes: opened.database.keyChanges(testCaller),
    onChange: (change) => this.changes.push(change),
    onMore: (count, first) => this.more.push({ count, first }),
  });

  read(): Promise<void> {
    return this.#log.read();
  }

  get reported(): string[] {
    return this.changes.splice(0).map(({ keyId, name, by, action }) => `${keyId} ${name} ${by} ${action}`);
  }
}

let reporter: Reporter;

const insertKeys = (count: number): Promise<unknown> =>
  opened.sql(
    `insert into api_keys (name, prefix, sha256, plan, scopes)
     select 'Many', 'petstore_many', encode(sha256(gen_random_uuid()::text::bytea), 'hex'), 'free', '{read}'
     from generate_series(1, $1::int)`,
    [count],
  );

const opened = await openTestDatabase();
const access = new AccessService(opened.stores, operator);

beforeEach(async () => {
  reporter = new Reporter();
  await reporter.read();
});

it('every change is reported once by each process, by whichever actor, in order and without a secret', async () => {
  const another = new Reporter();
  await another.read();
  const { apiKey, secret } = await access.create({ name: 'Shop', plan: 'free' });
  const { id } = apiKey;
  await new AccessService(opened.stores, serviceItself).recordAutomaticBan(id, {
    begunAt: Date.now(),
    until: Date.now() + 60_000,
    epoch: 0,
  });
  await reporter.read();
  await opened.sql(`update api_keys set plan = 'pro' where id = $1`, [id]);
  await access.rotate(id);
  await opened.sql(`delete from api_keys where id = $1`, [id]);
  await Promise.all([reporter.read(), reporter.read()]);
  await reporter.read();
  await another.read();
  for (const { changes } of [reporter, another]) {
    expect(JSON.stringify(changes)).not.toContain(secret);
    expect(JSON.stringify(changes)).not.toMatch(/[0-9a-f]{64}/);
    expect(changes[0]).toMatchObject({ at: expect.any(Date), changes: { plan: { to: 'free' } } });
  }
  const names = ['cli created', 'service banned', 'sql plan_changed', 'cli rotated', 'sql deleted'];
  // A key that is gone has its name in its last entry only.
  expect(another.reported.map((line) => line.replace(/^\d+ (Shop|null) /, ''))).toEqual(names);
  expect(reporter.reported).toEqual([
    `${id} Shop cli created`,
    `${id} Shop service banned`,
    `${id} null sql plan_changed`,
    `${id} null cli rotated`,
    `${id} Shop sql deleted`,
  ]);
});

it('of many changes at once a hundred are reported, and how many more there were', async () => {
  await insertKeys(2_000);
  await reporter.read();
  expect(reporter.reported).toHaveLength(100);
  expect(reporter.more).toMatchObject([{ count: 1_900, first: { name: 'Many', by: 'sql', action: 'created' } }]);
  await access.create({ name: 'Afterwards', plan: 'free' });
  await reporter.read();
  expect(reporter.reported).toEqual([expect.stringContaining(' Afterwards cli created')]);
  expect(reporter.more).toHaveLength(1);
});

it('keys that are gone with their table are reported', async () => {
  await opened.sql('truncate api_keys cascade');
  await insertKeys(2);
  await reporter.read();
  reporter.changes.length = 0;
  await opened.sql('truncate api_keys cascade');
  await reporter.read();
  expect(reporter.reported).toEqual(Array(2).fill(expect.stringMatching(/ Many sql deleted$/)));
});

/**
 * Waits for a transaction beside this one, of this database, that has the lock of the keys, or waits for it. The
 * embedded one runs one at a time.
 */
const untilOneBeside = (state: 'granted' | 'not granted'): string =>
  serverUrl() === undefined
    ? 'select 1'
    : `do $$ begin
        while not exists (
          select from pg_locks join pg_database on pg_database.oid = pg_locks.database and datname = current_database()
          where locktype = 'advisory' and ${state} and pid <> pg_backend_pid()
        ) loop
          assert clock_timestamp() < now() + interval '20 s';
        end loop;
      end $$`;

it('a change that waits for another transaction is reported', async () => {
  const keys = await Promise.all(['A', 'B'].map((name) => access.create({ name, plan: 'free' })));
  const [deleted, changed] = keys.map(({ apiKey }) => apiKey.id);
  await reporter.read();
  reporter.changes.length = 0;
  const rename = `update api_keys set name = name || '!' where id = ${changed}`;
  const writes = [
    opened.sql(`begin; ${rename}; ${untilOneBeside('not granted')}; ${rename}; commit`),
    opened.sql(`begin; ${untilOneBeside('granted')}; delete from api_keys where id = ${deleted}; commit`),
  ];
  const committed = Promise.race(writes).then(() => true);
  await until(async () => (await Promise.race([committed, reporter.read()])) === true, { maxMillis: 60_000 });
  await Promise.all(writes);
  await reporter.read();
  expect(reporter.reported.toSorted()).toEqual(
    [`${deleted} A sql deleted`, `${changed} B!! sql updated`, `${changed} B!! sql updated`].toSorted(),
  );
});
