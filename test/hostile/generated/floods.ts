import { globSync } from 'node:fs';

import fc from 'fast-check';

import { repository } from '../../support/running-command.ts';
import { kindOf } from './act.ts';
import { flood } from './flood.ts';

const floodSeconds = 3;

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

const assets = globSync('explorer/**/*.{js,css}', { cwd: `${repository}/dist` })
  .map((file) => file.replace('explorer/graphiql', '/graphiql'))
  .toSorted();

/** Whatever needs no key, or is refused without one. */
const texts: readonly string[] = [
  ...['/healthz', '/readyz', '/readyz?verbose&exclude=database', '/metrics'].map(get),
  ...['/', '/graphiql', '/graphiql/none', '/docs', '/favicon.ico', '/robots.txt'].map(get),
  ...['/openapi.json', '/openapi.yaml', '/schema.graphql', ...assets.slice(0, 3)].map(get),
  ...['/pets', '/none', '/%ff', '/graphql?query={__typename}'].map(get),
  'HEAD /readyz HTTP/1.1\r\nHost: x\r\n\r\n',
  'POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}',
  'POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}',
  'OPTIONS /pets HTTP/1.1\r\nHost: x\r\nOrigin: https://x.example\r\n\r\n',
  'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n',
  'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n',
  'nothing of HTTP\r\n\r\n',
];

const probes = texts.slice(0, 2);

/** Many connections without a key that ask for one or a few things, as fast as they can. */
export const floods = kindOf(
  'floods',
  fc.record({
    texts: fc.oneof(
      fc.constantFrom(...probes).map((text) => [text]),
      fc.subarray([...texts], { minLength: 1, maxLength: 3 }),
    ),
    connections: fc.constantFrom(300, 1_000, 3_000),
    addresses: fc.constantFrom(1, 100),
    lasts: fc.constantFrom('kept' as const, 'reset after' as const, 'reset before' as const),
  }),
  async (plan, { target }) => flood(target.service.port, plan, floodSeconds),
);
