import { createServer } from 'node:net';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';

import { describe, expect, test } from '@jest/globals';

import { atEnd } from '../support/at-end.ts';
import { findFreePort } from '../support/free-port.ts';
import { RunningCommand } from '../support/running-command.ts';
import { until } from '../support/until.ts';
import { createCertificate, proxies } from './proxies.ts';

const ca = createCertificate();

/** Accepts connections, and closes each with its first request. */
const closing = createServer((socket) => socket.on('error', () => undefined).once('data', () => socket.destroy()));
const closingPort = await findFreePort();
closing.listen(closingPort, '127.0.0.1');
atEnd(() => closing.close());

describe.each(proxies)('$name by the configuration of the guide, without a process of the service', (proxy) => {
  test.each([
    ['that listens', findFreePort],
    ['that answers', () => closingPort],
  ])('%s, refuses in the form of the service, and names a time', async (_what, findPort) => {
    const address = `127.0.0.1:${await findPort()}`;
    const port = await findFreePort();
    const running = new RunningCommand(proxy.command(port, [address, address]), {});
    const send = async (path: string, options: object = {}, body?: string) => {
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        // On a connection that was used before HAProxy closes it instead, so that the client sends the request again.
        request({ host: '127.0.0.1', port, path, ca, agent: false, ...options }, resolve)
          .on('error', reject)
          .end(body);
      });
      const { statusCode = 0, headers } = response;
      expect([502, 503]).toContain(statusCode);
      expect(headers).toMatchObject({
        'content-type': 'application/json',
        'retry-after': '2',
        'cache-control': 'no-store',
        'strict-transport-security': 'max-age=31536000',
      });
      return { statusCode, body: JSON.parse(await text(response)) as unknown };
    };
    await until(() =>
      send('/').then(
        () => true,
        (error: unknown) => (error as NodeJS.ErrnoException).code !== 'ECONNREFUSED',
      ),
    );

    const message = expect.stringContaining('send the request again');
    const rest = await send('/pets?limit=1');
    expect(rest.body).toEqual({ code: 'unavailable', message, status: rest.statusCode });
    for (const path of ['/graphql', '/graphql?query=%7B__typename%7D', '/%67raphql']) {
      const { statusCode, body } = await send(path, { method: 'POST' }, '{"query":"{ __typename }"}');
      const extensions = { code: 'SERVICE_UNAVAILABLE', status: statusCode, retryAfter: 2 };
      expect(body).toEqual({ errors: [{ message, extensions }] });
    }
    await running.stop();
  });
});
