import { describe, expect, it } from '@jest/globals';

import { eventIdOf } from '../../src/domain/events/event.ts';
import { until } from '../support/until.ts';
import { startTestApp } from '../support/test-app.ts';

const app = await startTestApp({ REST_PREFIX: '/v1' });

function nextOf(headers: Readonly<Record<string, string>>): string {
  const [, next = ''] = /^<([^>]+)>; rel="next"$/.exec(headers['link'] ?? '') ?? [];
  return next;
}

interface EventBody {
  readonly id: string;
  readonly type: string;
  readonly at: string;
  readonly resource: string;
  readonly version: string;
  readonly object: Readonly<Record<string, unknown>>;
}

/** Follows the links until so many events have come. */
async function follow(url: string, count: number): Promise<EventBody[]> {
  const found: EventBody[] = [];
  let next = url;
  await until(async () => {
    const page = await app.ask('GET', next);
    found.push(...(page.body as EventBody[]));
    next = nextOf(page.headers);
    expect(page.status).toBe(200);
    return found.length >= count;
  });
  return found;
}

async function now(): Promise<string> {
  await until(async () => (await app.sql('select from event_outbox limit 1')).length === 0);
  const { status, body, headers } = await app.ask('GET', '/v1/events?cursor=now&limit=2');
  expect([status, body]).toEqual([200, []]);
  return nextOf(headers);
}

describe('GET /events', () => {
  it('follows every change with its resource, version and object, page by page', async () => {
    const start = await now();
    expect(start).toMatch(/^\/v1\/events\?cursor=[\w-]+&limit=2$/);
    const pet = await app.pet({ name: 'Rex' });
    const order = (await app.ask('POST', '/v1/store/orders', { petId: pet.id })).body;
    const changed = await app.ask('PATCH', `/v1/inventory/${pet.id}`, { quantity: 5 });
    await app.ask('DELETE', `/v1/store/orders/${order.id}`);
    const events = await follow(start, 6);
    expect(events.map(({ type, resource }) => [type, resource])).toEqual(
      expect.arrayContaining([
        ['category.created', `/v1/categories/${pet.categoryId}`],
        ['pet.created', `/v1/pets/${pet.id}`],
        ['inventory.created', `/v1/inventory/${pet.id}`],
        ['order.created', `/v1/store/orders/${order.id}`],
        ['order.cancelled', `/v1/store/orders/${order.id}`],
      ]),
    );
    const updated = events.find(({ type }) => type === 'inventory.updated');
    expect(updated?.object).toEqual(changed.body);
    expect(`"${updated?.version}"`).toBe(changed.headers['etag']);
    expect(events.find(({ type }) => type === 'order.cancelled')?.object).toEqual(order);
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
  });

  it('selects one type; its link keeps type and limit, at the end too', async () => {
    const start = await now();
    await app.pet();
    const events = await follow(`${start}&type=pet.created`, 1);
    expect(events.map(({ type }) => type)).toEqual(['pet.created']);
    const page = await app.ask('GET', '/v1/events?cursor=now&limit=3&type=pet.created');
    expect(nextOf(page.headers)).toMatch(/limit=3.*type=pet\.created|type=pet\.created.*limit=3/);
  });

  it('begins with the oldest event, twenty on a page', async () => {
    await app.sql("insert into categories (name) select 'x' || number from generate_series(1, 30) number");
    await now();
    const { body } = await app.ask('GET', '/v1/events');
    expect(body).toHaveLength(20);
  });

  it.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['type=pet.sold', 'type'],
    ['cursor=x', 'cursor'],
    ['cursor=now&cursor=now', 'cursor'],
  ])('refuses %s', async (query, field) => {
    const { status, body } = await app.ask('GET', `/v1/events?${query}`);
    expect([status, body.code, body.message]).toEqual([400, 'validation_failed', expect.stringMatching(field)]);
  });

  it('is 410 where the position is gone, as a problem too', async () => {
    const gone = eventIdOf('1:4711');
    const { status, body } = await app.ask('GET', `/v1/events?cursor=${gone}`);
    expect([status, body]).toMatchObject([410, { code: 'events_gone', status: 410 }]);
    const problem = await app.ask('GET', `/v1/events?cursor=${gone}`, undefined, {
      accept: 'application/problem+json',
    });
    expect(problem.body).toMatchObject({ type: '/docs#events_gone', title: 'Events gone', status: 410 });
  });
});
