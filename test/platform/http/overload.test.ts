import { expect, it } from '@jest/globals';

import { until } from '../../support/until.ts';
import { atEnd } from '../../support/at-end.ts';
import { startBounded } from './bounded-server.ts';
import { respond } from './raw-requests.ts';

it('does not refuse a client for what another one has waiting, before it is admitted', async () => {
  const admissions = Promise.withResolvers<void>();
  let waiting = 0;
  const { server, port, refusals } = await startBounded({
    limits: { maxWaiting: 40 },
    admit: async (key) => {
      waiting += 1;
      if (key === 'busy') await admissions.promise;
    },
  });
  atEnd(() => admissions.resolve());
  const busy = Array.from({ length: 40 }, () => respond(port, '/things', 'busy'));
  await until(() => waiting === 40);
  expect((await respond(port, '/things', 'busy')).status).toBe(503);
  expect((await respond(port, '/things', 'other')).status).toBe(200);
  expect(refusals).toEqual(['overload']);
  admissions.resolve();
  await Promise.all(busy);
  await until(() => server.connections.underWay === 0);
  expect((await respond(port, '/things', 'busy')).status).toBe(200);
});

it('refuses requests while the event loop is late, and no longer', async () => {
  const { port } = await startBounded({ limits: { maxDelayMillis: 100 } });
  expect((await respond(port, '/things')).status).toBe(200);
  let isBusy = true;
  const block = (): void => {
    const end = performance.now() + 200;
    while (performance.now() < end);
    if (isBusy) setImmediate(block);
  };
  block();
  await until(async () => (await respond(port, '/things')).status === 503);
  expect((await respond(port, '/healthz')).status).toBe(200);
  isBusy = false;
  await until(async () => (await respond(port, '/things')).status === 200);
});
