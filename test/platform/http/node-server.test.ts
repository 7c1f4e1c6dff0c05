import type { RequestListener } from 'node:http';

import { expect, it } from '@jest/globals';

import { onBackgroundFailure } from '../../../src/platform/background.ts';
import { type Caller, Callers } from '../../../src/platform/callers/index.ts';
import { createNodeServer } from '../../../src/platform/http/index.ts';
import { listen } from '../../support/listen.ts';

it('a request whose beginning fails ends its own connection, at once and in a later tick, and no other', async () => {
  // Hardly any time in a tick: of several requests some begin in later ones.
  const callers = new Callers(undefined, 0.001);
  const callerOf = (): Caller => callers.for('client');
  const node = createNodeServer({
    limits: {},
    callers,
    callerOf,
    addressOf: callerOf,
    isProbe: () => false,
    onRefusal: () => undefined,
    onConnect: (_request, socket) => socket.destroy(),
  });
  const { server } = node;
  const failure = new Error('unforeseen');
  const handle: RequestListener = ({ url }, response) => {
    if (url === '/fails') throw failure;
    response.end('served');
  };
  node.onRequest(handle);
  const port = await listen(server);
  const reported: unknown[] = [];
  const stop = onBackgroundFailure((error) => reported.push(error));
  const get = async (path: string): Promise<string> => (await fetch(`http://127.0.0.1:${port}${path}`)).text();
  const paths = Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? '/fails' : '/'));
  const outcomes = await Promise.allSettled(paths.map(get));
  expect(outcomes.map((each) => (each.status === 'fulfilled' ? each.value : 'ended'))).toEqual(
    paths.map((path) => (path === '/' ? 'served' : 'ended')),
  );
  expect(new Set(reported)).toEqual(new Set([failure]));
  expect(reported).toHaveLength(10);
  stop();
  node.overload.stop();
  server.closeAllConnections();
});
