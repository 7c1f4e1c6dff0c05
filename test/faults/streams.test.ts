import { expect, it } from '@jest/globals';

import { eventStream, multipart, openStream, type ClientStream } from '../graphql/streams/stream-client.ts';
import { runSql } from '../support/postgres-client.ts';
import { startCluster } from '../support/started-cluster.ts';
import { adminKey, Service } from '../support/service.ts';
import { until } from '../support/until.ts';

const cluster = await startCluster();

const service = await Service.start({ DATABASE_URL: cluster.url, LOG_LEVEL: 'silent' });

const body = { query: 'subscription { events { id type object { ... on Category { name } } } }' };
const open = (accept: string): Promise<ClientStream> => openStream(service.address, adminKey, body, accept);
const add = (...names: readonly string[]): Promise<unknown> =>
  runSql(cluster.url, 'insert into categories (name) select unnest($1::text[])', [names]);
const namesIn = (stream: ClientStream): string[] =>
  stream.results().flatMap(({ data }) => data?.events.object?.name ?? []);

it('streams stay open while the database is gone, and go on without a gap when it is back', async () => {
  const streams = [await open(eventStream), await open(multipart)];
  await add('before');
  for (const stream of streams) await until(() => namesIn(stream).length === 1);
  cluster.stop();
  await until(async () => (await service.get('/readyz')).status === 503);
  cluster.start();
  await add('after', 'and after');
  for (const stream of streams) {
    await until(() => namesIn(stream).length === 3);
    expect([namesIn(stream), stream.isEnded()]).toEqual([['before', 'after', 'and after'], false]);
    stream.close();
  }
});

it('SIGTERM ends open streams with a message, and the process does not wait for their hour', async () => {
  const streams = [await open(eventStream), await open(multipart)];
  expect(await service.stop()).toBe(0);
  for (const stream of streams) {
    await stream.ended();
    expect(stream.results().at(-1)).toMatchObject({ errors: [{ extensions: { code: 'SERVICE_UNAVAILABLE' } }] });
  }
});
