import { createHook } from 'node:async_hooks';
import type { EventEmitter } from 'node:events';

import { expect, it } from '@jest/globals';

import { atEnd } from '../support/at-end.ts';
import { startTestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';
import { portOf, requestText, send } from '../platform/http/raw-requests.ts';

/** What a listener or the callback of a timer returns is never awaited. */
const isAsync = (callback: unknown): boolean => (callback as object | undefined)?.constructor.name === 'AsyncFunction';

/** The async functions among the listeners, by their events. */
function asyncListenersOf(emitter: EventEmitter): string[] {
  return emitter.eventNames().flatMap((event) =>
    emitter
      .listeners(event)
      .filter(isAsync)
      .map(() => String(event)),
  );
}

/** What Node passes to a hook for a timer or an immediate (22.17 and 24.21). */
interface TimerResource {
  readonly _onTimeout?: unknown;
  readonly _onImmediate?: unknown;
}

/** The callbacks of all timers that are started from now on, until the end of the test. */
function timerCallbacks(): unknown[] {
  const callbacks: unknown[] = [];
  const hook = createHook({
    init: (_id, _type, _trigger, { _onTimeout, _onImmediate }: TimerResource) => {
      if (_onTimeout !== undefined || _onImmediate !== undefined) callbacks.push(_onTimeout ?? _onImmediate);
    },
  }).enable();
  atEnd(() => hook.disable());
  return callbacks;
}

it('no listener of the server, its connections, requests, responses or the process is an async function, nor is the callback of a timer', async () => {
  const callbacks = timerCallbacks();
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
  expect(callbacks.length).toBeGreaterThan(0);
  expect(callbacks.filter(isAsync)).toEqual([]);
});
