import { globSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { repository } from '../support/running-command.ts';
import {
  disconnectAfter,
  get,
  leaveUnread,
  openUnread,
  pause,
  post,
  statusOn,
  summary,
  times,
} from './raw-requests.ts';
import type { Door } from './target.ts';

/** Runs the attack through the door, maybe on other than its own number of connections, and returns what it got. */
type ConnectionAttack = (door: Door, connections?: number) => Promise<string>;

const built = join(repository, 'dist');

/** The largest of the explorer's files. */
const [largestScript = ''] = globSync('explorer/**/*.js', { cwd: built }).toSorted(
  (a, b) => statSync(join(built, b)).size - statSync(join(built, a)).size,
);
const script = `GET ${largestScript.replace('explorer/graphiql', '/graphiql')} HTTP/1.1\r\nHost: x\r\n\r\n`;
/** What is read ahead at most, and the one under way. */
const ahead = 17;

/** Some of them have less of a body than they say. */
function requestsToCut(door: Door): string[] {
  const query = '{"query":"{ pets(first: 100) { edges { node { id name category { name } } } } }"}';
  const json = `HTTP/1.1\r\nHost: x\r\nX-API-Key: ${door.attacker}\r\nContent-Type: application/json\r\n`;
  return [
    ...['pets', 'graphql', 'nothing'].flatMap((path) => [
      `OPTIONS /${path} HTTP/1.1\r\nHost: x\r\n\r\n`,
      `POST /${path} ${json}Transfer-Encoding: chunked\r\n\r\n5\r\n{"nam`,
      `POST /${path} ${json}Content-Length: 2000000\r\n\r\n{"nam`,
    ]),
    'POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"nam',
    post(door, '/graphql', query),
    get(door, '/inventory'),
    get(door, '/graphiql'),
    get(door, '/pets?limit=1').repeat(2),
  ];
}

/** What takes no key, or no more than one, on many connections. */
export const connectionAttacks: Readonly<Record<string, ConnectionAttack>> = {
  'requests cut off anywhere, closed before the response': (door) => {
    const texts = requestsToCut(door);
    return disconnectAfter(
      door,
      times(400, (index) => {
        const text = texts[index % texts.length]!;
        return index % 3 === 0 ? text.slice(0, (index * 31) % text.length) : text;
      }),
    );
  },
  '64 KiB of probes on each of 400 connections, unread': (door) =>
    leaveUnread(
      door,
      times(400, () => 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1_900)),
    ),
  'the largest script on many connections, unread': (door, connections = 700) =>
    leaveUnread(
      door,
      // As many as may be read ahead, and more.
      times(connections, (index) => script.repeat(index % 10 === 0 ? 32 : ahead)),
    ),
  'the document for a new Host each time on 700 connections, unread': (door) =>
    leaveUnread(
      door,
      times(700, (index) =>
        times(ahead, (number) => `GET /openapi.yaml HTTP/1.1\r\nHost: h${index}x${number}.example\r\n\r\n`).join(''),
      ),
    ),
  'many idle connections, and half as many that send a header a letter at a time': async (door, connections = 700) => {
    const idle = await openUnread(
      door,
      times(connections, () => ''),
    );
    const slow = await openUnread(
      door,
      times(connections / 2, () => 'GET /pets HTTP/1.1\r\nHost: x\r\nX-Slow: '),
    );
    for (let letters = 0; letters < 10; letters += 1) {
      for (const socket of slow) socket.write('x');
      await pause(0.2);
    }
    const open = [...idle, ...slow].filter((socket) => !socket.destroyed).length;
    for (const socket of [...idle, ...slow]) socket.resetAndDestroy();
    return `${open} open`;
  },
  '2,500 connections with one request each': async (door) => {
    const sockets = await Promise.all(times(2_500, () => door.send(get(door, '/pets?limit=100'))));
    const statuses = await Promise.all(sockets.map(statusOn));
    for (const socket of sockets) socket.destroy();
    return summary(statuses);
  },
  'long lists in headers': async (door) => {
    const values = ['a,', '*/*;q=0.5,', '"x",', ', ', '1.1.1.1,', 'bytes=0-,', '\\"', '%20', 'a=b;'];
    const names = [
      'Accept',
      'Accept-Encoding',
      'If-None-Match',
      'X-Forwarded-For',
      'X-Forwarded-Host',
      'Range',
      'Idempotency-Key',
      'Origin',
      'Access-Control-Request-Headers',
      'traceparent',
      'Content-Type',
      'Cookie',
    ];
    const texts = names.flatMap((name) =>
      values.flatMap((value) =>
        ['GET /pets/1', 'GET /docs', 'POST /pets'].map(
          (line) =>
            `${line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-API-Key: ${door.attacker}\r\nContent-Length: 0\r\n` +
            `${name}: ${value.repeat(Math.floor(14_000 / value.length))}\r\n\r\n`,
        ),
      ),
    );
    const outcomes: string[] = [];
    for (let from = 0; from < texts.length; from += 20) {
      const sockets = await Promise.all(texts.slice(from, from + 20).map((text) => door.send(text)));
      outcomes.push(...(await Promise.all(sockets.map(statusOn))));
      for (const socket of sockets) socket.destroy();
    }
    return summary(outcomes);
  },
};
