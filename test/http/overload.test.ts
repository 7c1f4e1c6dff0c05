import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

import { expect, it } from '@jest/globals';

import { until } from '../support/until.ts';
import { atEnd } from '../support/at-end.ts';
import { anyKey, startHttp } from './http-harness.ts';
import { portOf, respond, send } from '../platform/http/raw-requests.ts';

it('refuses further requests by 503 while too many wait, but never health checks', async () => {
  const begun: ServerResponse[] = [];
  const refusals: string[] = [];
  const admitted: string[] = [];
  const http = await startHttp({
    limits: { maxWaiting: 40 },
    onRefusal: (bound) => void refusals.push(bound),
    routes: async (api) => {
      api.addHook('onRequest', async (request) => void admitted.push(request.url));
      api.get('/slow', anyKey, (_request, reply) => {
        begun.push(reply.raw);
        if (begun.length === 40) http.server.server.emit('full');
      });
    },
  });
  const port = await portOf(http.server);
  const full = once(http.server.server, 'full');
  for (let connection = 0; connection < 40; connection += 1) {
    const socket = await send(port, 'GET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
    atEnd(() => socket.destroy());
  }
  await full;
  admitted.length = 0;
  const refused = await respond(port, '/things');
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);
  expect(refused.headers['x-ratelimit-limit']).toBeDefined();
  expect(JSON.parse(refused.body)).toMatchObject({ code: 'unavailable', status: 503 });
  // Before the key and the quota.
  expect(admitted).toEqual([]);
  expect((await respond(port, '/robots.txt')).status).toBe(503);
  for (const path of ['/healthz', '/readyz']) expect((await respond(port, path)).status).toBe(200);
  expect(refusals).toEqual(['overload', 'overload']);
  expect(http.log.filter(({ level }) => Number(level) >= 40)).toEqual([]);
  for (const response of begun) response.end();
  await until(() => http.server.connections.underWay === 0);
  expect((await respond(port, '/things')).status).toBe(200);
});
