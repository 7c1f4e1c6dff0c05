import { expect, it } from '@jest/globals';

import { until } from '../support/until.ts';
import { change, create, startStore } from './endpoints.ts';
import { Inbox } from './inbox.ts';

const days = 8;

/** All that was logged so far is of so many days ago, as is the position of an endpoint. */
const passDays = `do $do$ declare
    day constant bigint := 1::bigint << 40;
    today constant bigint := extract(epoch from now())::bigint / 86400;
    old constant text := to_char(now() - interval '${days} days', '"events_"YYYYMMDD');
    partition text := (select inhrelid::regclass::text from pg_inherits where inhparent = 'events'::regclass limit 1);
  begin
    execute format('alter table events detach partition %s', partition);
    execute format('alter table %s rename to %s', partition, old);
    execute format('update %s set position = position - %s', old, ${days} * day);
    update event_state set position = position - ${days} * day, dropped_position = 0;
    execute format('alter table events attach partition %s for values from (%s) to (%s)',
      old, (today - ${days}) * day, (today - ${days} + 1) * day);
    update webhook_endpoints
    set position = (split_part(position, ':', 1)::bigint - ${days} * day) || ':' || split_part(position, ':', 2);
  end $do$`;

it('retention that overtakes a paused endpoint is told by one store.resync, and what is kept follows', async () => {
  const inbox = await Inbox.start();
  const store = await startStore([inbox]);
  const logged = async (): Promise<number> => ((await store.ask('GET', '/events')).body as unknown[]).length;
  await store.category('Before');
  await until(async () => (await logged()) === 1);
  const { id } = await create(store, inbox, { eventTypes: ['CATEGORY_CREATED'] });
  await change(store, 'pauseWebhookEndpoint', { id });
  await store.category('Gone');
  await until(async () => (await logged()) === 2);
  await store.sql(passDays);
  await store.sql("select petstore_maintain_events('7 days')");
  expect(await logged()).toBe(0);
  await store.category('Kept');
  await until(async () => (await logged()) === 1);
  await change(store, 'resumeWebhookEndpoint', { id });
  await until(() => inbox.accepted.length === 2);
  expect(inbox.accepted.map(({ type }) => type)).toEqual(['store.resync', 'category.created']);
  expect(inbox.accepted[1]?.data).toMatchObject({ object: { name: 'Kept' } });
  // Once.
  await store.category('Later');
  await until(() => inbox.accepted.length === 3);
  expect(inbox.accepted[2]?.data).toMatchObject({ object: { name: 'Later' } });
});
