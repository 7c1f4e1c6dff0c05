import type { Socket } from 'node:net';

import { disconnectAfter, get, leaveUnread, mebibyte, pause, summary, times } from './raw-requests.ts';
import type { Target } from './target.ts';

/** Runs the attack, and returns what it got. */
export type Attack = (target: Target) => Promise<string>;

/** Sends the bodies one after another, and says the statuses with the codes of the errors. */
async function graphql(target: Target, bodies: readonly (string | { query: string })[]): Promise<string> {
  const outcomes: string[] = [];
  for (const body of bodies) {
    const { status, text } = await target.graphql(body);
    const code = /"code":"([A-Z_]+)"/.exec(text.slice(-4_096) + text.slice(0, 4_096))?.[1];
    const limit = /\b(?:tokens|fields|depth|aliases|cost|errors|directives|code points)\b/i.exec(
      text.slice(0, 300),
    )?.[0];
    const size = text.length > mebibyte ? `${Math.round(text.length / mebibyte)} MiB` : undefined;
    const parts = [status, code, status === 200 ? undefined : limit, size];
    outcomes.push(parts.filter((part) => part !== undefined).join(' '));
  }
  return summary(outcomes);
}

/** A chain in which each fragment spreads the next one twice. */
function chain(length: number): string {
  const fragments = times(length, (index) => `fragment F${index} on Query { ...F${index + 1} ...F${index + 1} }`);
  return `{ ...F0 } ${fragments.join(' ')} fragment F${length} on Query { __typename }`;
}

/** What one key can put into documents, bodies and headers. */
export const attacks: Readonly<Record<string, Attack>> = {
  '1 code in literals': (target) =>
    graphql(
      target,
      [
        '"}); process.exit(1); //',
        '${process.exit(1)}',
        "'+process.exit(1)+'",
        '__proto__',
        '");process.exit(1);("',
      ].flatMap((text) => [
        { query: `{ pets(filter: { nameContains: ${JSON.stringify(text)} }) { totalCount } }` },
        { query: `query($v: String = ${JSON.stringify(text)}) { pets(filter: { nameContains: $v }) { totalCount } }` },
        { query: `{ a: pets(first: 1) @include(if: ${JSON.stringify(text)}) { totalCount } }` },
      ]),
    ),
  '2 CONNECT, undecodable paths, upgrades, then a reset': (target) =>
    disconnectAfter(
      target,
      times(40, () => ['CONNECT x:1', 'GET /%zz', 'GET /graphql', 'OPTIONS *', 'PRI *'])
        .flat()
        .map((line) => `${line} HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n`),
    ),
  '7 exponential documents': (target) =>
    graphql(target, [
      ...[10, 23, 60, 200].map((length) => ({ query: chain(length) })),
      { query: `{ ${'pets { edges { node { category { '.repeat(100)} id ${'} } } }'.repeat(100)} }` },
      { query: `{ ${times(400, () => 'pets { totalCount }').join(' ')} }` },
      { query: `{ pets ${times(500, () => '@include(if: true)').join(' ')} { totalCount } }` },
      { query: `query(${times(400, (index) => `$v${index}: Int = ${index}`).join(' ')}) { __typename }` },
      ...times(30, (index) => ({
        query: `{ ${times(45, (alias) => `q${index}x${alias}: pet(id: ${alias}) { id name category { id name pets(first: 1) { edges { node { id } } } } }`).join(' ')} }`,
      })),
      { query: '['.repeat(60_000) },
      { query: `{ pets(filter: ${'{a:'.repeat(1_000)}1${'}'.repeat(1_000)}) { totalCount } }` },
    ]),
  '8 unread results': async (target) => {
    const query = '{__schema{types{name description fields{name description args{name description}}}}}';
    const one = get(target, `/graphql?query=${encodeURIComponent(query)}`);
    return leaveUnread(
      target,
      times(100, () => one.repeat(17)),
    );
  },
  '8 slow bodies': async (target) => {
    const head = `POST /pets HTTP/1.1\r\nHost: x\r\nX-API-Key: ${target.attacker}\r\nContent-Type: application/json\r\nContent-Length: 1048576\r\n\r\n`;
    const text = head + 'x'.repeat(mebibyte - 1);
    const statuses: string[] = [];
    const sockets: Socket[] = [];
    for (let count = 0; count < 200; count += 1) {
      const socket = await target.send(text);
      socket.once('data', (chunk: Buffer) => statuses.push(String(chunk).slice(9, 12)));
      sockets.push(socket);
    }
    await pause(3);
    for (const socket of sockets) socket.destroy();
    return `200 bodies: ${summary(statuses)}`;
  },
  '11 odd headers and targets': async (target) => {
    const outcomes: string[] = [];
    const ask = async (text: string): Promise<void> => {
      const socket = await target.send(text);
      const chunks: Buffer[] = [];
      socket.on('data', (chunk: Buffer) => chunks.push(chunk));
      if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
      outcomes.push(String(Buffer.concat(chunks)).slice(9, 12));
    };
    const close = 'Host: x\r\nConnection: close\r\n';
    await ask(`OPTIONS /pets HTTP/1.1\r\n${close}X-API-Key: ${target.attacker}\r\n\r\n`);
    await ask(`GET /docs HTTP/1.1\r\n${close}Range: bytes=99999999-\r\n\r\n`);
    await ask(`GET /graphiql HTTP/1.1\r\n${close}Range: bytes=99999999-\r\n\r\n`);
    await ask(
      `GET /openapi.json HTTP/1.1\r\n${close}X-Forwarded-Proto: javascript\r\nX-Forwarded-Host: "><script>\r\n\r\n`,
    );
    await ask(`GET * HTTP/1.1\r\n${close}\r\n`);
    for (const value of ['Bearer', 'Basic', 'Bearer a\r\nAuthorization: Bearer b']) {
      await ask(`GET /pets HTTP/1.1\r\n${close}Authorization: ${value}\r\n\r\n`);
    }
    const search = await graphql(target, [
      { query: `{ pets(filter: { nameContains: "${'x'.repeat(60_000)}" }) { totalCount } }` },
    ]);
    return `${summary(outcomes)}; ${search}`;
  },
  'resets at every point of a request': async (target) => {
    const query = '{"query":"{ pets(first: 100) { edges { node { id name category { name } } } } }"}';
    const requests = [
      `POST /graphql HTTP/1.1\r\nHost: x\r\nX-API-Key: ${target.attacker}\r\nContent-Type: application/json\r\nContent-Length: ${query.length}\r\n\r\n${query}`,
      get(target, '/inventory'),
      get(target, '/graphiql'),
      `${get(target, '/pets?limit=1')}${get(target, '/pets?limit=1')}`,
    ];
    let resets = 0;
    for (const request of requests) {
      const cuts = times(Math.ceil(request.length / 3), (index) => request.slice(0, index * 3));
      await disconnectAfter(target, [...cuts, ...times(40, () => request)]);
      resets += cuts.length + 40;
    }
    return `${resets} resets`;
  },
};
