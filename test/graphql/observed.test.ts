import { describe, expect, it } from '@jest/globals';

import { startTestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';
import { eventStream, openStream } from './streams/stream-client.ts';

/** It could be an operation's name. */
const adminKey = 'the_administrator_of_this_very_suite_0003';
const service = await startTestApp({ LOG_LEVEL: 'info', PORT: '0', ADMIN_API_KEY: adminKey });
const address = await service.app.listen();

/** The line, which may be written a moment after its response. */
async function logged(isWanted: (line: Record<string, unknown>) => boolean): Promise<Record<string, unknown>> {
  await until(() => service.log.some(isWanted));
  return service.log.find(isWanted)!;
}

/** The value of one line of the metrics. */
async function metric(line: string): Promise<number> {
  const { text } = await service.ask('GET', '/metrics');
  const found = text.split('\n').find((each) => each.startsWith(`${line} `));
  return Number(found?.slice(line.length) ?? 0);
}

it.each<[query: string, logged: object]>([
  [
    'query Mine { a: pets(first: 2) { edges { node { id } } } b: pet(id: 404) { id } }',
    { name: 'Mine', fields: ['pets', 'pet'], cost: 2, complexity: 3, codes: [] },
  ],
  [
    '{ a: pets(first: -1) { totalCount } b: pets(first: -1) { totalCount } pet(id: 1) { id } }',
    { fields: ['pets', 'pet'], cost: 3, complexity: 43, codes: ['BAD_USER_INPUT'] },
  ],
  [
    `query ${'N'.repeat(5000)} { __typename }`,
    { name: 'N'.repeat(100), fields: ['__typename'], cost: 1, complexity: 0, codes: [] },
  ],
  ['{ nothing }', { codes: ['GRAPHQL_VALIDATION_FAILED'] }],
])(
  'the line of a request has the name, root fields, cost and complexity of its operation and the codes of its errors: %.80s',
  async (query, graphql) => {
    const { headers } = await service.graphql(query);
    const line = await logged(({ requestId, ms }) => requestId === headers['x-request-id'] && ms !== undefined);
    expect(line['graphql']).toEqual(graphql);
  },
);

it('errors are counted by root fields and code', async () => {
  // Requests of the suite's own key may be repeated.
  const { secret } = await service.createKey();
  const errorsOf = (operation: string, code: string) =>
    metric(`petstore_graphql_errors_total{operation="${operation}",code="${code}"}`);
  const [failed, unparsed] = [
    await errorsOf('query pets', 'BAD_USER_INPUT'),
    await errorsOf('none', 'GRAPHQL_PARSE_FAILED'),
  ];
  await service.graphql('{ alias: pets(first: -1) { totalCount } }', {}, secret);
  await service.graphql('query ($n: Int) { pets(first: $n) { totalCount } }', { n: 'x' }, secret);
  await service.graphql('{ alias', {}, secret);
  expect(await errorsOf('query pets', 'BAD_USER_INPUT')).toBe(failed + 2);
  expect(await errorsOf('none', 'GRAPHQL_PARSE_FAILED')).toBe(unparsed + 1);
});

describe('a stream', () => {
  const open = (query: string, accept = eventStream, variables: object = {}) =>
    openStream(address, service.key, { query, variables }, accept);
  const begun = ({ msg }: Record<string, unknown>) => msg === 'event stream begun';

  it('has a line at its begin and at its end, with what it has sent, and is timed nowhere', async () => {
    const timed = () => metric('petstore_request_duration_seconds_count{operation="subscription events"}');
    const before = await timed();
    const stream = await open('subscription S($filter: EventFilter) { events(filter: $filter) { id } }', eventStream, {
      filter: { typeIn: ['CATEGORY_CREATED'] },
    });
    await service.category();
    await stream.until(1);
    expect(service.log.filter(begun)).toMatchObject([{ graphql: { name: 'S', fields: ['events'], cost: 1 } }]);
    stream.close();
    expect(await logged(({ msg }) => msg === 'event stream ended')).toMatchObject({
      status: 200,
      stream: { events: 1 },
    });
    expect(await timed()).toBe(before);
  });

  it('has no part of a key in the log that its name ends with, though names are shortened', async () => {
    const begin = 'x'.repeat(80);
    (await open(`subscription ${begin}${adminKey} { events { id } }`)).close();
    expect(service.log.findLast(begun)).toMatchObject({ graphql: { name: `${begin}…` } });
  });

  it('whose client accepts none is refused, with its operation in the log', async () => {
    await open('subscription S { events { id } }', 'application/json');
    expect(await logged(({ status }) => status === 406)).toMatchObject({
      graphql: { name: 'S', fields: ['events'], cost: 1, codes: ['NOT_ACCEPTABLE'] },
    });
  });
});
