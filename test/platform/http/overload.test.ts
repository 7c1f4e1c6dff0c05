import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import { expect, it } from '@jest/globals';

import { byteMillis, requestMillis } from '../../../src/platform/callers/accounts.ts';
import { atEnd } from '../../support/at-end.ts';
import { holdLoop } from '../../support/measurement.ts';
import { until } from '../../support/until.ts';
import { startBounded } from './bounded-server.ts';
import { requestText, respond, responseTo, send } from './raw-requests.ts';

/** A server whose `/slow` responds on command. */
class SlowServer {
  readonly waiting: ServerResponse[] = [];
  readonly refusals: string[] = [];
  readonly #port: number;
  readonly #requests: EventEmitter;

  static async start(maxWaiting: number): Promise<SlowServer> {
    const waiting: ServerResponse[] = [];
    const requests = new EventEmitter().setMaxListeners(0);
    const { port, refusals } = await startBounded({
      limits: { maxWaiting },
      routes: (api) => {
        api.get('/slow', (_request, reply) => {
          waiting.push(reply.raw);
          requests.once('respond', () => void reply.send('at last'));
        });
      },
    });
    return new SlowServer(requests, port, waiting, refusals);
  }

  private constructor(requests: EventEmitter, port: number, waiting: ServerResponse[], refusals: string[]) {
    this.#requests = requests;
    this.#port = port;
    this.waiting = waiting;
    this.refusals = refusals;
  }

  /** Sends requests of the key that wait. */
  async occupy(key: string, count: number): Promise<Socket[]> {
    const wanted = this.waiting.length + count;
    const sockets: Socket[] = [];
    for (let sent = 0; sent < count; sent += 1)
      sockets.push(await send(this.#port, requestText('/slow', key, 'close')));
    atEnd(() => sockets.forEach((socket) => socket.destroy()));
    await until(() => this.waiting.length >= wanted);
    return sockets;
  }

  async statusOf(path: string, key: string): Promise<number> {
    const response = await respond(this.#port, path, key);
    if (response.status === 503) expect(response.headers['retry-after']).toBe('1');
    return response.status;
  }

  respond(): void {
    this.#requests.emit('respond');
  }
}

it('a key among others has at most its share of the waiting requests, and leaves the rest to them', async () => {
  const slow = await SlowServer.start(100);
  await slow.occupy('a', 60);
  expect(await slow.statusOf('/things', 'b')).toBe(200);
  expect(await slow.statusOf('/things', 'a')).toBe(503);
  expect(slow.refusals).toEqual(['waiting_requests']);
  // Two keys have a quarter each.
  await slow.occupy('b', 25);
  expect(await slow.statusOf('/things', 'b')).toBe(503);
  expect(await slow.statusOf('/things', 'c')).toBe(200);
  slow.respond();
  await slow.occupy('a', 20);
});

it('a key that is alone may use all of them; the overload that it causes ends when others are there', async () => {
  const slow = await SlowServer.start(100);
  await slow.occupy('a', 100);
  expect(await slow.statusOf('/things', 'b')).toBe(503);
  expect(slow.refusals).toEqual(['overload']);
  slow.respond();
  await slow.occupy('a', 50);
  expect(await slow.statusOf('/things', 'a')).toBe(503);
  expect(await slow.statusOf('/things', 'b')).toBe(200);
  expect(slow.refusals).toEqual(['overload', 'waiting_requests']);
});

it('requests whose clients have disconnected wait until their work ends', async () => {
  const slow = await SlowServer.start(40);
  const closed = slow.waiting;
  const sockets = await slow.occupy('a', 40);
  for (const socket of sockets) socket.resetAndDestroy();
  await Promise.all(closed.map(async (response) => response.closed || once(response, 'close')));
  expect(await slow.statusOf('/things', 'b')).toBe(503);
  slow.respond();
  expect(await slow.statusOf('/things', 'b')).toBe(200);
});

it('a request is aborted when its client disconnects, and not when it has its response', async () => {
  const signals: AbortSignal[] = [];
  const { server, port, log } = await startBounded({
    routes: (api) => {
      api.get('/signal', ({ caller: { signal } }, reply) => {
        if (signals.push(signal) === 1) return void reply.send('at once');
        api.server.emit('begun');
        signal.addEventListener('abort', () => void reply.send('too late'));
      });
    },
  });
  await respond(port, '/signal', 'a');
  const begun = once(server.server, 'begun');
  const socket = await send(port, requestText('/signal', 'a', 'close'));
  await begun;
  socket.resetAndDestroy();
  await once(signals[1]!, 'abort');
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, true]);
  expect(log.filter(({ level }) => level >= 40)).toEqual([]);
});

it('what a request takes of the processor counts for its client, by what is sent and what comes back', async () => {
  const { server, port } = await startBounded({
    routes: (api) => void api.post('/echo', () => 'x'.repeat(5_000)),
  });
  const used = (key: string): number => server.callers.accounts.of(key).usedMillis;
  const body = 'y'.repeat(1_000);
  const before = used('a');
  for (const sent of [
    `Content-Length: 1000\r\n\r\n${body}`,
    `Transfer-Encoding: chunked\r\n\r\n3e8\r\n${body}\r\n0\r\n\r\n`,
  ])
    await responseTo(
      port,
      `POST /echo HTTP/1.1\r\nHost: x\r\nX-Principal: a\r\nConnection: close\r\nContent-Type: text/plain\r\n${sent}`,
    );
  expect(used('a') - before).toBeCloseTo(2 * (requestMillis + 6_000 * byteMillis), 6);
});

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
    holdLoop(200);
    if (isBusy) setImmediate(block);
  };
  block();
  await until(async () => (await respond(port, '/things')).status === 503);
  expect((await respond(port, '/healthz')).status).toBe(200);
  isBusy = false;
  await until(async () => (await respond(port, '/things')).status === 200);
});
