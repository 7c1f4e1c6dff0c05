import { expect, it } from '@jest/globals';
import type { FastifyInstance } from 'fastify';

import { admitAll } from '../support/bare-server.ts';
import { atEnd } from '../support/at-end.ts';
import { until } from '../support/until.ts';
import { startHttp, type HttpHarness } from './http-harness.ts';
import { portOf, send } from '../platform/http/raw-requests.ts';

const millis = 15;
const later = <Value>(work: () => Promise<Value>): Promise<Value> =>
  new Promise((resolve) => setTimeout(() => resolve(work()), millis));

/** Counters that are as far away as Redis. */
async function start(): Promise<HttpHarness & { port: number; failures: unknown[] }> {
  const near = admitAll();
  const failures: unknown[] = [];
  const onFailure = (reason: unknown): void => void failures.push(reason);
  process.on('unhandledRejection', onFailure);
  atEnd(() => process.off('unhandledRejection', onFailure));
  const http = await startHttp({
    authentication: {
      admit: (request, reply) => later(() => near.admit(request, reply)),
      headersFor: (address) => later(() => near.headersFor(address)),
    },
  });
  return { ...http, port: await portOf(http.server), failures };
}

async function settled(server: FastifyInstance): Promise<void> {
  await until(() => server.connections.underWay === 0);
  await new Promise((resolve) => setTimeout(resolve, 4 * millis));
}

const head = 'POST /things HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n';

it.each([
  ['OPTIONS of a path of the API', 'OPTIONS /things HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['a request of an unknown path', 'GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['a request with a broken path', 'GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['a body that is cut', `${head}"12`],
  ['a body that is cut while it is refused', `${head.replace('/things', '/nothing')}"12`],
  ['a body of another type that is cut', `${head.replace('application/json', 'text/html')}"12`],
  ['a body that breaks', `${head.replace('Content-Length: 10', 'Transfer-Encoding: chunked')}z\r\n`],
  ['a broken request', 'BROKEN\r\n\r\n'],
  ['what isn’t a proxy', 'CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n'],
])('a connection that is closed before the response to %s costs at most one log line, below warn', async (_, text) => {
  for (const wait of [0, 1.5 * millis]) {
    for (const close of ['end', 'destroy', 'resetAndDestroy'] as const) {
      // One for each: what the one before it logs late is not its own.
      const { server, log, port, failures } = await start();
      log.length = 0;
      const socket = await send(port, text);
      await new Promise((resolve) => setTimeout(resolve, wait));
      socket[close]();
      await settled(server);
      socket.destroy();
      expect(log.filter(({ level }) => Number(level) >= 40)).toEqual([]);
      expect(log.length).toBeLessThanOrEqual(1);
      expect(failures).toEqual([]);
    }
  }
});
