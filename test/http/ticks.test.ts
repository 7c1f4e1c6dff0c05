import { expect, it } from '@jest/globals';

import { Accounts } from '../../src/platform/callers/accounts.ts';
import { type Caller, Callers } from '../../src/platform/callers/index.ts';
import { TickTime } from '../../src/platform/callers/tick-time.ts';
import { atEnd } from '../support/at-end.ts';
import { until } from '../support/until.ts';
import { parseResponse, portOf, receive, send } from '../platform/http/raw-requests.ts';
import { startHttp } from './http-harness.ts';

/** Ticks without time until `release`: what waits is kept. */
class NoTime extends TickTime {
  readonly waiting: (() => void)[] = [];
  #hasTime = false;

  override get isFree(): boolean {
    return this.#hasTime && super.isFree;
  }

  override wait(caller: Pick<Caller, 'id'>, begin: () => void): () => void {
    if (this.#hasTime) return super.wait(caller, begin);
    this.waiting.push(begin);
    return () => undefined;
  }

  override waitFirst(caller: Pick<Caller, 'id'>, begin: () => void): void {
    this.wait(caller, begin);
  }

  release(): void {
    this.#hasTime = true;
    for (const begin of this.waiting.splice(0)) begin();
  }
}

const accounts = new Accounts();
const ticks = new NoTime(accounts);

class CallersWithoutTime extends Callers {
  override readonly ticks = ticks;
}

const { server, log } = await startHttp({
  callers: new CallersWithoutTime(accounts),
  limits: { headersTimeoutMillis: 200, requestTimeoutMillis: 200, timeoutCheckMillis: 20 },
});
const port = await portOf(server);
atEnd(() => ticks.release());

const end = 'Host: x\r\nConnection: close\r\n\r\n';
const head = (path: string): string => `HEAD ${path} HTTP/1.1\r\n${end}`;

const nonsense = 'nothing of HTTP\r\n\r\n';

/** Texts that clients send, and the statuses that they get in the end. */
const texts: readonly (readonly [string, number])[] = [
  [head('/'), 200],
  [head('/healthz'), 200],
  [head('/readyz?verbose'), 200],
  [head('/favicon.ico'), 200],
  [head('/robots.txt'), 200],
  [head('/graphiql/none'), 404],
  [head('/none'), 404],
  [`GET /things HTTP/1.1\r\n${end}`, 200],
  [`POST /healthz HTTP/1.1\r\n${end}`, 405],
  [`POST /graphql HTTP/1.1\r\nTransfer-Encoding: chunked\r\n${end}0\r\n\r\n`, 415],
  [`GET /things HTTP/1.1\r\nExpect: 100-continue\r\n${end}`, 200],
  [`GET /healthz HTTP/1.1\r\nExpect: a miracle\r\n${end}`, 417],
  [`GET /healthz HTTP/1.1\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n${end}`, 200],
  [`OPTIONS * HTTP/1.1\r\n${end}`, 204],
  [`GET /%ff HTTP/1.1\r\n${end}`, 400],
  [`CONNECT x:1 HTTP/1.1\r\n${end}`, 405],
  [nonsense, 400],
  [`GET / HTTP/1.1\r\nX-Large: ${'x'.repeat(40_000)}\r\n${end}`, 431],
  ['GET / HTTP/1.1\r\nX-Slow: ', 408],
];

it('begins no request, whatever it asks for, and no refusal of what is none, while ticks have no time for its client', async () => {
  const sockets = await Promise.all(texts.map(([text]) => send(port, text)));
  const received = sockets.map(receive);
  await until(() => ticks.waiting.length === texts.length);
  const lines = log.length;
  // A client that goes on sending what can't be parsed is refused once.
  for (const [index, [text]] of texts.entries()) if (text === nonsense) sockets[index]?.write(nonsense);
  for (let tick = 0; tick < 100; tick += 1) await new Promise(setImmediate);
  expect(sockets.map(({ bytesRead }) => bytesRead)).toEqual(texts.map(() => 0));
  expect(log).toHaveLength(lines);
  ticks.release();
  const statuses = await Promise.all(received.map(async (text) => parseResponse(await text).status));
  expect(statuses).toEqual(texts.map(([, status]) => status));
});
