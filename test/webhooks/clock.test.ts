import { randomUUID } from 'node:crypto';

import { describe, expect, it } from '@jest/globals';

import type { TestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';
import { create, endpoint, startStore } from './endpoints.ts';
import { Inbox } from './inbox.ts';

/** What is stored is by a clock that was so far from the one of now: the database's has been set by as much, the other way. */
const stored = (by: string) => `update webhook_endpoints set fence = fence + 1, failing_since = failing_since + ${by},
  failed_at = failed_at + ${by}, next_attempt_at = next_attempt_at + ${by}, leased_until = leased_until + ${by}`;

const jumps = ['1 hour', '6 days'].flatMap((length) => [`interval '${length}'`, `interval '-${length}'`]);

async function failing(store: TestApp, id: string): Promise<void> {
  await store.category('A');
  await until(async () => (await endpoint(store, id))['state'] === 'FAILING');
}

describe.each(jumps)('a clock that is set by %s', (by) => {
  it('keeps the leases of a killed process from nobody, nor its part', async () => {
    const inbox = await Inbox.start();
    const store = await startStore([inbox]);
    await create(store, inbox, { eventTypes: ['CATEGORY_CREATED'] });
    const dead = `'${randomUUID()}'`;
    await store.sql(`insert into webhook_processes values (${dead}, now() + ${by})`);
    await store.sql(`update webhook_endpoints set holder = ${dead}, fence = fence + 1, leased_until = now() + ${by}`);
    await store.category('A');
    await until(() => inbox.accepted.length === 1);
    const processes = async (): Promise<unknown> =>
      (await store.sql('select count(*)::int as n from webhook_processes'))[0]?.['n'];
    await until(async () => (await processes()) === 1);
    expect(new Set(inbox.accepted.map(({ id }) => id)).size).toBe(1);
  });

  it('makes a failing endpoint wait no longer, and disables none', async () => {
    const inbox = await Inbox.start(() => 503);
    const store = await startStore([inbox]);
    const { id } = await create(store, inbox, { eventTypes: ['CATEGORY_CREATED'] });
    await failing(store, id);
    const sent = inbox.requests.length;
    await store.sql(stored(by));
    await until(() => inbox.requests.length > sent);
    const attempts = 'attempts(first: 10) { totalCount }';
    await until(async () => JSON.stringify(await endpoint(store, id, attempts)).includes(`:${sent + 1}`));
    expect(await endpoint(store, id, 'state disabledReason')).toEqual({ state: 'FAILING', disabledReason: null });
  });

  it('makes a refused event wait no longer', async () => {
    const inbox = await Inbox.start((_event, count) => (count === 1 ? 422 : 204));
    const store = await startStore([inbox]);
    await create(store, inbox, { eventTypes: ['CATEGORY_CREATED'] });
    await store.category('A');
    await until(async () => (await store.sql("select from webhook_endpoints where refusals <> '{}'")).length === 1);
    const millis = `1000 * extract(epoch from ${by})`;
    const moved = ['from', 'until'].map((name) => `'${name}', (value -> 'wait' ->> '${name}')::float8 + ${millis}`);
    await store.sql(`update webhook_endpoints set leased_until = null, fence = fence + 1, refusals = (select jsonb_object_agg(key,
      jsonb_build_object('count', value -> 'count', 'wait', jsonb_build_object(${moved.join()}))) from jsonb_each(refusals))`);
    await until(() => inbox.accepted.length === 1);
    expect(inbox.requests.length).toBe(2);
  });
});

it('an endpoint that has failed for five days, as often as the schedule has it, is disabled without a next attempt', async () => {
  const inbox = await Inbox.start(() => 503);
  const store = await startStore([inbox]);
  const { id } = await create(store, inbox, { eventTypes: ['CATEGORY_CREATED'] });
  await failing(store, id);
  await store.sql("update webhook_endpoints set failures = 130, failing_since = now() - interval '5 days'");
  await store.sql(
    "update webhook_endpoints set failed_at = now() - interval '1 hour', next_attempt_at = now(), fence = fence + 1, leased_until = null",
  );
  await until(async () => (await endpoint(store, id))['state'] === 'DISABLED');
  expect(await endpoint(store, id)).toMatchObject({ disabledReason: 'FAILED_FOR_DAYS', nextAttemptAt: null });
});

it('an endpoint that somebody has locked holds up no other, and is sent to when it is free', async () => {
  const [locked, free] = [await Inbox.start(), await Inbox.start()];
  const store = await startStore([locked, free]);
  const { id } = await create(store, locked, { eventTypes: ['CATEGORY_CREATED'] });
  await create(store, free, { eventTypes: ['CATEGORY_CREATED'] });
  const unlocked = store.sql(
    `select pg_sleep(3) from (select from webhook_endpoints where id = ${id} for update) as held`,
  );
  await store.category('A');
  await until(() => free.accepted.length === 1);
  await store.category('B');
  // Where that takes longer than the lock is held, those of the other one are among them.
  const done = (rows: readonly Record<string, unknown>[]) => rows.length >= 2;
  await until(async () => done(await store.sql('select from webhook_attempts where status = 204')));
  await unlocked;
  await until(() => locked.accepted.length === 2);
  expect(free.accepted.length).toBe(2);
});
