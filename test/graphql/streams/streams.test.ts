import { mock } from 'node:test';

import { describe, expect, it } from '@jest/globals';

import { eventIdOf } from '../../../src/domain/events/event.ts';
import { EventStreams } from '../../../src/graphql/streams/event-streams.ts';
import { RemoteClock } from '../../../src/platform/remote-clock.ts';
import { atEnd } from '../../support/at-end.ts';
import { startTestApp } from '../../support/test-app.ts';
import { until } from '../../support/until.ts';
import { eventStream, multipart, openStream, type ClientStream } from './stream-client.ts';

const streams: ClientStream[] = [];

const statements: string[] = [];

const app = await startTestApp(
  { PORT: '0' },
  { streamTerms: { keepAliveMillis: 300 }, onStatement: (text) => statements.push(text) },
);
const address = await app.app.listen();
atEnd(() => streams.forEach((stream) => stream.close()));

const query =
  'subscription S($after: ID, $filter: EventFilter) { events(after: $after, filter: $filter) { id type object { ... on Category { name } } } }';

async function open(
  accept: string,
  variables: object = {},
  { key = app.key, text = query }: { key?: string; text?: string } = {},
): Promise<ClientStream> {
  const stream = await openStream(address, key, { query: text, variables }, accept);
  streams.push(stream);
  return stream;
}

const namesIn = (stream: ClientStream): string[] =>
  stream.results().map(({ data }) => data.events.object?.name ?? data.events.type);

describe.each([
  ['Server-Sent Events', eventStream],
  ['multipart', multipart],
])('a subscription over %s', (_name, accept) => {
  it('sends what happens from now on, and keeps the connection alive', async () => {
    const stream = await open(accept);
    expect(stream.status).toBe(200);
    expect(stream.headers.get('content-type')).toMatch(
      accept === eventStream ? /^text\/event-stream/ : /subscriptionSpec=1\.0/,
    );
    expect(stream.headers.get('x-accel-buffering')).toBe('no');
    expect(stream.headers.get('cache-control')).toBe('no-store');
    expect(stream.headers.get('x-ratelimit-cost')).toBe('1');
    await app.category('first');
    await app.category('second');
    await stream.until(2);
    expect(namesIn(stream)).toEqual(['first', 'second']);
    await until(() => stream.keepAlives() > 1);
    stream.close();
  });

  it('goes on after a position without a gap, also beyond what one statement reads', async () => {
    const { data } = await app.graphql('{ eventCursor }');
    await app.sql("insert into categories (name) select 'many ' || number from generate_series(1, 350) number");
    const stream = await open(accept, { after: data.eventCursor });
    await until(() => namesIn(stream).includes('many 350'));
    await app.category('after many');
    await until(() => namesIn(stream).includes('after many'));
    const names = namesIn(stream).filter((name) => name.startsWith('many'));
    expect(names).toEqual(Array.from({ length: 350 }, (_, index) => `many ${index + 1}`));
    const middle = stream.results()[100].data.events;
    const rest = await open(accept, { after: middle.id });
    await until(() => rest.results().length >= stream.results().length - 101);
    expect(namesIn(rest)).toEqual(namesIn(stream).slice(101));
    rest.close();
    stream.close();
  });

  it('sends only what its filter selects', async () => {
    const stream = await open(accept, { filter: { typeIn: ['CATEGORY_DELETED'] } });
    const id = await app.category('short-lived');
    await app.ask('DELETE', `/categories/${id}`);
    await stream.until(1);
    expect(stream.results()[0].data.events).toMatchObject({
      type: 'CATEGORY_DELETED',
      object: { name: 'short-lived' },
    });
    stream.close();
  });

  it('is refused by an ordinary response where its position is gone or none of ours', async () => {
    const gone = await open(accept, { after: eventIdOf('1:4711') });
    await gone.ended();
    expect([gone.status, JSON.parse(gone.text()).errors[0].extensions]).toMatchObject([
      410,
      { code: 'EVENTS_GONE', status: 410 },
    ]);
    const forged = await open(accept, { after: 'x' });
    await forged.ended();
    expect([forged.status, JSON.parse(forged.text()).errors[0].extensions.code]).toEqual([400, 'BAD_USER_INPUT']);
  });

  it('ends with a message within a second when its key is revoked', async () => {
    const { id, secret } = await app.createKey({ plan: 'pro' });
    const stream = await open(accept, {}, { key: secret });
    await app.graphql('mutation($id: ID!) { revokeApiKey(input: { id: $id }) { apiKey { id } } }', { id });
    await stream.ended();
    expect(stream.results().at(-1)).toMatchObject({
      errors: [{ extensions: { code: 'UNAUTHENTICATED', status: 401 } }],
    });
    expect(stream.text()).toMatch(accept === eventStream ? /event: complete\ndata:\n\n$/ : /\r\n--graphql--\r\n$/);
  });
});

describe('an opening', () => {
  it('beyond the streams of a plan is 429, until one of them ends, and has spent its 1; events spend nothing', async () => {
    const { secret } = await app.createKey({ plan: 'free' });
    const first = await open(eventStream, {}, { key: secret });
    const second = await open(eventStream, {}, { key: secret });
    await second.ended();
    expect([second.status, second.headers.get('retry-after')]).toEqual([429, '5']);
    expect(JSON.parse(second.text()).errors[0].extensions.code).toBe('RATE_LIMITED');
    await app.category('free of charge');
    await first.until(1);
    const { data } = await app.graphql('{ viewer { day { limit remaining } } }', {}, secret);
    expect(data.viewer.day).toEqual({ limit: 1_000, remaining: 998 });
    first.close();
    await until(async () => {
      const third = await open(eventStream, {}, { key: secret });
      third.close();
      return third.status === 200;
    });
  });

  it('counts all streams of its key, also those from before another plan', async () => {
    const { id, secret } = await app.createKey({ plan: 'pro' });
    const first = await Promise.all(Array.from({ length: 5 }, () => open(eventStream, {}, { key: secret })));
    const statusAs = async (plan: string): Promise<number> => {
      await app.graphql(`mutation { setApiKeyPlan(input: { id: ${id}, plan: ${plan} }) { apiKey { id } } }`);
      return (await open(eventStream, {}, { key: secret })).status;
    };
    expect([await statusAs('FREE'), await statusAs('BUSINESS'), await statusAs('PRO')]).toEqual([429, 200, 429]);
    for (const stream of first) stream.close();
  });

  it('that is refused for too many streams counts towards a ban from the seventh in a minute on', async () => {
    const own = await startTestApp({ PORT: '0', BAN_AFTER: '2', MAX_STREAMS: '2' });
    const ownAddress = await own.app.listen();
    const refusals = async (secret: string, count: number): Promise<number[]> => {
      const statuses: number[] = [];
      while (statuses.length < count) {
        const refused = await openStream(ownAddress, secret, { query }, eventStream);
        await refused.ended();
        statuses.push(refused.status);
      }
      return statuses;
    };
    const [holding, without, other] = [await own.createKey(), await own.createKey(), await own.createKey()];
    const [first, second] = [
      await openStream(ownAddress, holding.secret, { query }, eventStream),
      await openStream(ownAddress, other.secret, { query }, eventStream),
    ];
    expect(await refusals(holding.secret, 6)).toEqual(Array.from({ length: 6 }, () => 429));
    expect(await refusals(without.secret, 6)).toEqual(Array.from({ length: 6 }, () => 503));
    // Those of the first two seconds don't count, as of every refusal.
    mock.method(RemoteClock.prototype, 'now', () => Date.now() + 2_001);
    try {
      expect(await refusals(without.secret, 4)).toEqual([503, 503, 403, 403]);
      expect(await refusals(holding.secret, 4)).toEqual([429, 429, 403, 403]);
      await first.ended();
      expect(first.results()).toMatchObject([{ errors: [{ extensions: { code: 'KEY_BANNED' } }] }]);
    } finally {
      mock.restoreAll();
    }
    second.close();
  });

  it('that accepts JSON alone is refused by name, and so is one by GET', async () => {
    const others = ['text/*', 'multipart/mixed', `${eventStream};q=0`, 'multipart/mixed;subscriptionSpec="2.0"'];
    for (const accept of ['application/json', '*/*', 'multipart/mixed, application/json', ...others]) {
      const refused = await open(accept);
      await refused.ended();
      expect([accept, refused.status]).toEqual([accept, 406]);
      expect(JSON.parse(refused.text()).errors[0].message).toMatch(
        /text\/event-stream or multipart\/mixed;subscriptionSpec=1\.0/,
      );
    }
    const url = `${address}/graphql?query=${encodeURIComponent('subscription { events { id } }')}`;
    const byGet = await fetch(url, { headers: { authorization: `Bearer ${app.key}`, accept: eventStream } });
    expect([byGet.status, await byGet.text()]).toEqual([405, expect.stringMatching(/subscription/)]);
  });

  it.each([
    ['a syntax error', 'subscription { events {', 'GRAPHQL_PARSE_FAILED'],
    ['an unknown field', 'subscription { events { nope } }', 'GRAPHQL_VALIDATION_FAILED'],
    ['two root fields', 'subscription { events { id } more: events { id } }', 'GRAPHQL_VALIDATION_FAILED'],
    [
      'a nested object',
      'subscription { events { object { ... on Pet { category { id } } } } }',
      'GRAPHQL_VALIDATION_FAILED',
    ],
    ['bad variables', 'subscription($n: ID!) { events(after: $n) { id } }', 'BAD_USER_INPUT'],
  ])('with %s is one result over Server-Sent Events, and 400 over multipart', async (_what, text, code) => {
    const events = await open(eventStream, {}, { text });
    await events.ended();
    expect([events.status, events.results().map(({ errors }) => errors[0].extensions.code)]).toEqual([200, [code]]);
    expect(events.text()).toMatch(/event: complete/);
    for (const accept of [multipart, 'multipart/mixed;subscriptionSpec=1.0']) {
      const parts = await open(accept, {}, { text });
      await parts.ended();
      expect([parts.status, JSON.parse(parts.text()).errors[0].extensions.code]).toEqual([400, code]);
    }
  });

  it.each([
    'subscription { events @skip(if: true) { id } }',
    'subscription { events @include(if: 1e999) { id } }',
    'subscription ($on: Boolean!) { events @include(if: $on) { id } }',
    'subscription { ... @skip(if: {}) { events { id } } }',
    'subscription { ...A } fragment A on Subscription { ...A ...B } fragment B on Subscription { events @skip(if: null) { id } }',
  ])('whose root field depends on a directive is refused, and says where: %s', async (text) => {
    const { status, errors } = await app.graphql(text, { on: true });
    const locations = [{ line: 1, column: expect.any(Number) }];
    const message = expect.stringMatching(/must not depend on @skip|within itself|Boolean/);
    expect([status, errors]).toMatchObject([
      400,
      [{ message, locations, extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }],
    ]);
  });
});

it('streams of one document with other variables have results of their own', async () => {
  const text = 'subscription($named: Boolean!) { events { object { ... on Category { name @include(if: $named) } } } }';
  const named = await open(eventStream, { named: true }, { text });
  const unnamed = await open(eventStream, { named: false }, { text });
  await app.category('shown');
  await Promise.all([named.until(1), unnamed.until(1)]);
  expect([named, unnamed].map((stream) => stream.results()[0].data.events.object)).toEqual([{ name: 'shown' }, {}]);
  named.close();
  unnamed.close();
});

it('the framing is the one that Accept prefers', async () => {
  for (const [accept, type] of [
    [`multipart/mixed;subscriptionSpec=1.0;q=0.5, ${eventStream}`, 'text/event-stream'],
    [`${eventStream};q=0.5, multipart/mixed;subscriptionSpec="1.0"`, 'multipart/mixed'],
    [`application/json, ${eventStream};q=0.1`, 'text/event-stream'],
  ] as const) {
    const stream = await open(accept);
    expect([accept, stream.headers.get('content-type')]).toEqual([accept, expect.stringMatching(`^${type}`)]);
    stream.close();
  }
});

it('a query and a mutation that accept text/event-stream only are one result', async () => {
  const read = await open(eventStream, {}, { text: '{ rateLimit { cost } }' });
  await read.ended();
  expect(read.text()).toBe('event: next\ndata: {"data":{"rateLimit":{"cost":0}}}\n\nevent: complete\ndata:\n\n');
  const both = await open(`${eventStream}, application/json;q=0.1`, {}, { text: '{ rateLimit { cost } }' });
  await both.ended();
  expect(JSON.parse(both.text())).toEqual({ data: { rateLimit: { cost: 0 } } });
  const text = 'mutation { cancelOrder(input: { id: 404 }) { cancelledOrderId } }';
  const write = await open(eventStream, {}, { text });
  await write.ended();
  expect(write.results()).toMatchObject([{ data: { cancelOrder: null }, errors: [{}] }]);
  const refused = await open('multipart/mixed;subscriptionSpec=1.0', {}, { text: '{ rateLimit { cost } }' });
  expect(refused.status).toBe(406);
});

it('reads the log by one statement each 200 ms, however many streams there are, and by none without', async () => {
  for (const stream of streams) stream.close();
  const gauge = async () => /^petstore_event_streams (\d+)/m.exec((await app.ask('GET', '/metrics')).text)?.[1];
  await until(async () => (await gauge()) === '0');
  const count = (kind: RegExp): number => statements.filter((text) => kind.test(text)).length;
  // Changes are moved five times a second, with streams and without.
  const readsWithinThreeMoves = async (): Promise<number> => {
    statements.length = 0;
    await until(() => count(/petstore_move_events/) >= 3);
    return count(/from event_state/);
  };
  // The last one may have been under way.
  await until(async () => (await readsWithinThreeMoves()) === 0);
  await Promise.all(Array.from({ length: 20 }, () => open(eventStream)));
  const startedAt = performance.now();
  const reads = await readsWithinThreeMoves();
  const intervals = (performance.now() - startedAt) / 200;
  expect(reads).toBeGreaterThan(0);
  expect(reads).toBeLessThanOrEqual(intervals + 1);
});

it('the streams of the process that has moved a change into the log are told directly', async () => {
  const { mock: told } = mock.method(EventStreams.prototype, 'readNow');
  try {
    await until(async () => {
      await app.category('told');
      return told.callCount() > 0;
    });
    expect(told.callCount()).toBeGreaterThan(0);
  } finally {
    mock.restoreAll();
  }
});
