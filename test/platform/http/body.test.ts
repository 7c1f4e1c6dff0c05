import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';

import { beforeEach, describe, expect, it } from '@jest/globals';
import type { FastifyInstance, FastifyRequest } from 'fastify';

import { RequestMemory } from '../../../src/platform/callers/memory.ts';
import { collectGarbage, holdLoop } from '../../support/measurement.ts';
import { until } from '../../support/until.ts';
import { type BoundedServer, startBounded } from './bounded-server.ts';
import { parseResponse, receive, responseTo, send } from './raw-requests.ts';

let bounded: BoundedServer;
let port: number;

beforeEach(async () => {
  bounded = await startBounded();
  ({ port } = bounded);
});

/** A request whose response has the body that was read. */
function post(headers: string, body: string, connection = 'close'): string {
  return `POST /things HTTP/1.1\r\nHost: x\r\nConnection: ${connection}\r\nContent-Type: application/json\r\n${headers}\r\n\r\n${body}`;
}

function lengthOf(body: string): string {
  return `Content-Length: ${Buffer.byteLength(body)}`;
}

function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

describe('a body is read', () => {
  it('when it arrives with its headers', async () => {
    const { body } = await responseTo(port, post(lengthOf('"ä"'), '"ä"'));
    expect(JSON.parse(body)).toEqual({ body: '"ä"' });
  });

  it('when it has no bytes', async () => {
    const { body } = await responseTo(port, post('Content-Length: 0', ''));
    expect(JSON.parse(body)).toEqual({ body: '' });
  });

  it('when there is none, because neither of its headers was sent', async () => {
    const { body } = await responseTo(port, post('X-Other: 1', ''));
    expect(JSON.parse(body)).toEqual({ body: '' });
  });

  it('when it arrives in chunks', async () => {
    const chunks = `${chunk('"a')}${chunk('ä"')}0\r\n\r\n`;
    const { body } = await responseTo(port, post('Transfer-Encoding: chunked', chunks));
    expect(JSON.parse(body)).toEqual({ body: '"aä"' });
  });

  it('when it arrives after its headers, with a character cut in two', async () => {
    const bytes = Buffer.from('"ä"');
    const begun = once(bounded.server.server, 'request');
    const socket = await send(port, post(lengthOf('"ä"'), ''));
    await begun;
    socket.write(bytes.subarray(0, 2));
    socket.write(bytes.subarray(2));
    expect(JSON.parse(parseResponse(await receive(socket)).body)).toEqual({ body: '"ä"' });
  });

  it('of each request, when two arrive together', async () => {
    const text = post(lengthOf('"first"'), '"first"', 'keep-alive') + post(lengthOf('"second"'), '"second"');
    const received = await receive(await send(port, text));
    expect(received.match(/\{"body":.*\}/g)).toEqual(['"first"', '"second"'].map((body) => JSON.stringify({ body })));
  });
});

it('takes the memory of its bytes, in however many chunks it arrives', () => {
  const payload = new PassThrough();
  const caller = bounded.server.callers.for('any');
  const request = {
    headers: {},
    caller,
    memory: new RequestMemory(bounded.server.memory, caller),
  } as unknown as FastifyRequest;
  bounded.server.bodies.read(request, payload as unknown as IncomingMessage, () => undefined);
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  for (let chunks = 0; chunks < 200_000; chunks += 1) payload.emit('data', Buffer.from('x'));
  collectGarbage();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(5e6);
  payload.destroy();
});

it('of more than 4 KiB is parsed in a tick of its client, however many are admitted at once', async () => {
  const admissions = Promise.withResolvers<void>();
  let waiting = 0;
  const routes = (api: FastifyInstance): void => {
    api.addContentTypeParser('application/x', (request, payload, parsed) => {
      request.server.bodies.read(request, payload, (error) => {
        holdLoop(3);
        parsedInTick += 1;
        most = Math.max(most, parsedInTick);
        setImmediate(() => (parsedInTick = 0));
        parsed(error, null);
      });
    });
    api.post('/busy', async () => 'done');
  };
  let [parsedInTick, most] = [0, 0];
  const admit = async (): Promise<void> => {
    waiting += 1;
    await admissions.promise;
  };
  const { port: busyPort } = await startBounded({ limits: { tickMillis: 5 }, admit, routes });
  const text = `POST /busy HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/x\r\nContent-Length: 5000\r\n\r\n${'x'.repeat(5_000)}`;
  const sockets = await Promise.all(Array.from({ length: 20 }, () => send(busyPort, text)));
  await until(() => waiting === 20);
  admissions.resolve();
  for (const received of await Promise.all(sockets.map(receive))) expect(received).toMatch(/ 200 OK/);
  expect(most).toBeLessThanOrEqual(3);
});

describe('a body in more than 1,024 small chunks', () => {
  const tiny = chunk('1').repeat(100_000);

  it.each([
    ['that is read', post('Transfer-Encoding: chunked', tiny)],
    ['that is discarded', `POST /nothing HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${tiny}`],
  ])('%s ends its connection', async (_when, text) => {
    const socket = await send(port, text);
    const reset = new Promise<Error>((resolve) => socket.resume().once('error', resolve));
    expect(await reset).toMatchObject({ code: expect.stringMatching(/^(?:ECONNRESET|EPIPE)$/) });
  });

  it('is read when its bytes are as many', async () => {
    const chunks = chunk('1'.repeat(200)).repeat(4_200);
    const { status } = await responseTo(port, post('Transfer-Encoding: chunked', `${chunks}0\r\n\r\n`));
    expect(status).toBe(201);
  });
});

describe('a body over 1 MiB is refused', () => {
  it.each([
    ['by its length', post(`Content-Length: ${2 ** 20 + 1}`, '')],
    ['while its chunks arrive', post('Transfer-Encoding: chunked', chunk('x'.repeat(2 ** 16)).repeat(17))],
  ])('%s', async (_when, text) => {
    const { status, body } = await responseTo(port, text);
    expect([status, JSON.parse(body)]).toMatchObject([413, { code: 'PAYLOAD_TOO_LARGE' }]);
  });
});
