import { randomUUID } from 'node:crypto';

import { expect, it } from '@jest/globals';

import type { EventPosition } from '../../src/domain/events/event.ts';
import type { Id } from '../../src/domain/id.ts';
import type { WebhookEndpoint } from '../../src/domain/webhooks/webhook-endpoint.entity.ts';
import { LeasedEndpoints, type WebhookLeases } from '../../src/webhooks/leased-endpoints.ts';
import { testCaller } from '../support/caller.ts';
import { openTestDatabase } from '../support/opened-database.ts';

const signingKeys = ['key'];
const holderId = randomUUID();
const count = 200;

async function open() {
  const { database, stores, statements, sql } = await openTestDatabase();
  await sql(`insert into webhook_endpoints (url, is_thin, max_in_flight, created_at, signing_key, position)
    select 'https://example.com/', false, 4, now(), 'key', '0:0' from generate_series(1, ${count})`);
  const leases: WebhookLeases = database.webhookLeases(testCaller);
  return { leases, stores, statements, sql };
}

it('what a round reads of the database is the same, however many events were refused', async () => {
  const { leases, statements, sql } = await open();
  expect(await leases.lease(holderId, signingKeys)).toHaveLength(count);
  const round = statements.find((text) => text.includes('webhook_processes'))!;
  const blocks = async (): Promise<number> => {
    // A hundred of them are renewed.
    await sql("update webhook_endpoints set leased_until = now() + interval '20 seconds'");
    await sql('vacuum full webhook_endpoints');
    const [row] = await sql(`explain (analyze, buffers, format json) ${round}`, [holderId, signingKeys]);
    const [{ Plan: plan }] = row!['QUERY PLAN'] as [{ Plan: Record<string, number> }];
    return plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!;
  };
  const before = await blocks();
  const wait = `jsonb_build_object('count', 1, 'wait', jsonb_build_object('from', random(), 'until', random()))`;
  await sql(`update webhook_endpoints
    set refusals = (select jsonb_object_agg(n, ${wait}) from generate_series(1, 500) n)`);
  expect(await blocks()).toBeLessThan(1.2 * before);
});

it('a round reads the rows of what is new or changed; after a failure all of them; never those of another process', async () => {
  const { leases, stores, sql } = await open();
  const read: number[] = [];
  let fails = false;
  const webhooks = {
    byIds: async (ids: readonly Id[]): Promise<(WebhookEndpoint | undefined)[]> => {
      read.push(ids.length);
      if (fails) throw new Error('The database is away.');
      return stores.webhooks.byIds(ids);
    },
  };
  const leased = new LeasedEndpoints({ leases, stores: { webhooks }, signingKeys, onKeyEnded: () => undefined });
  const changed = "update webhook_endpoints set max_in_flight = 1, leased_until = null where url like 'h%' and id <= 2";
  expect(await leased.lease(holderId)).toHaveLength(count);
  await leased.lease(holderId);
  await sql(changed);
  const endpoints = await leased.lease(holderId);
  expect(endpoints.filter(({ maxInFlight }) => maxInFlight === 1)).toHaveLength(2);
  await sql(changed);
  fails = true;
  await expect(leased.lease(holderId)).rejects.toThrow('away');
  fails = false;
  await leased.lease(holderId);
  expect(read).toEqual([count, 0, 2, 2, count]);
  const byIds = webhooks.byIds.bind(undefined);
  webhooks.byIds = async (ids) => {
    await sql(`update webhook_endpoints set holder = '${randomUUID()}' where id = 1`);
    return byIds(ids);
  };
  await sql('update webhook_endpoints set leased_until = null where id = 1');
  expect(await leased.lease(holderId)).toHaveLength(count - 1);
});

it('an endpoint whose key has ended while its progress was on the way stays disabled', async () => {
  const { leases, sql } = await open();
  await leases.lease(holderId, signingKeys);
  const [row] = await sql('select id::text, fence::text from webhook_endpoints order by id limit 1');
  await sql(`update webhook_endpoints set disabled_reason = 'KEY_ENDED' where id = ${String(row!['id'])}`);
  const progress = {
    id: String(row!['id']),
    fence: String(row!['fence']),
    position: '7:0' as EventPosition,
    failures: 0,
    failingSince: undefined,
    failedAt: undefined,
    nextAttemptAt: undefined,
    isHealthy: true,
    disabledReason: undefined,
    refusals: {},
    attempts: [],
    isReturned: false,
  };
  await leases.save([progress]);
  expect(await sql(`select position, disabled_reason from webhook_endpoints where id = ${progress.id}`)).toEqual([
    { position: '7:0', disabled_reason: 'KEY_ENDED' },
  ]);
});
