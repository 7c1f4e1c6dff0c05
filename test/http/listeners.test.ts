import type { EventEmitter } from 'node:events';

import { expect, it } from '@jest/globals';

import { atEnd } from '../support/at-end.ts';
import { startTestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';
import { portOf, requestText, send } from './http-harness.ts';

/** The async functions among the listeners, by their events: nobody awaits what they return. */
function asyncListenersOf(emitter: EventEmitter): string[] {
  return emitter.eventNames().flatMap((event) =>
    emitter
      .listeners(event)
      .filter((listener) => listener.constructor.name === 'AsyncFunction')
      .map(() => String(event)),
  );
}

it('no listener of the server, its connections, requests, responses or the process is an async function', async () => {
  const store = await startTestApp({});
  atEnd(() => store.close());
  const { server } = store.app.server;
  const emitters: EventEmitter[] = [server, process];
  server.on('connection', (socket) => emitters.push(socket));
  server.on('request', (request, response) => emitters.push(request, response));
  const port = await portOf(store.app.server);
  for (const path of ['/pets', '/graphiql', '/%zz', '/nothing']) {
    const socket = await send(port, requestText(path));
    atEnd(() => socket.destroy());
  }
  await until(() => emitters.length >= 2 + 4 * 3);
  expect(emitters.flatMap(asyncListenersOf)).toEqual([]);
});
