import { expect, it } from '@jest/globals';

import { startTestApp } from '../../support/test-app.ts';
import { until } from '../../support/until.ts';
import { eventStream, openStream, type ClientStream } from './stream-client.ts';

const log: Record<string, unknown>[] = [];
/** It could be an operation's name. */
const adminKey = 'the_administrator_of_this_very_suite_0003';

const app = await startTestApp(
  { LOG_LEVEL: 'info', PORT: '0', ADMIN_API_KEY: adminKey },
  { logStream: { write: (line) => log.push(JSON.parse(line)) } },
);
const address = await app.app.listen();

function open(query: string, variables: object = {}): Promise<ClientStream> {
  return openStream(address, app.key, { query, variables }, eventStream);
}

it('is logged when it begins and when it ends, with what it has sent', async () => {
  const timed = async () =>
    /^petstore_request_duration_seconds_count\{operation="subscription events"\} (\d+)/m.exec(
      await (await fetch(`${address}/metrics`)).text(),
    )?.[1];
  const before = await timed();
  log.length = 0;
  const stream = await open('subscription S($filter: EventFilter) { events(filter: $filter) { id } }', {
    filter: { typeIn: ['CATEGORY_CREATED'] },
  });
  await app.graphql('mutation { createCategory(input: { name: "logged" }) { category { id } } }');
  await stream.until(1);
  expect(log.filter(({ msg }) => msg === 'event stream begun')).toMatchObject([
    { graphql: { name: 'S', fields: ['events'], cost: 1 } },
  ]);
  stream.close();
  await until(() => log.some(({ msg }) => msg === 'event stream ended'));
  expect(log.filter(({ stream: ended }) => (ended as { events?: number } | undefined)?.events === 1)).toMatchObject([
    { status: 200 },
  ]);
  expect(await timed()).toBe(before);
});

it('logs no part of a key that the name of a subscription ends with, though names are shortened', async () => {
  log.length = 0;
  const begin = 'x'.repeat(80);
  const stream = await open(`subscription ${begin}${adminKey} { events { id } }`);
  stream.close();
  const begun = log.find(({ msg }) => msg === 'event stream begun');
  expect(begun).toMatchObject({ graphql: { name: `${begin}…` } });
});

it('that accepts no stream is refused with its operation in the log', async () => {
  log.length = 0;
  const refused = await openStream(address, app.key, { query: 'subscription S { events { id } }' }, 'application/json');
  expect(refused.status).toBe(406);
  await until(() => log.some(({ status }) => status === 406));
  expect(log.find(({ status }) => status === 406)).toMatchObject({
    graphql: { name: 'S', fields: ['events'], cost: 1, codes: ['NOT_ACCEPTABLE'] },
  });
});
