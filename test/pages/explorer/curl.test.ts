import { execFileSync } from 'node:child_process';

import { expect, it } from '@jest/globals';

import { curlFor } from '../../../src/pages/explorer/curl.ts';

/** What the shell makes of the command. */
function argumentsOf(command: string): string[] {
  const script = `curl() { printf '%s\\0' "$@"; }\n${command}`;
  return execFileSync('sh', ['-c', script], { env: { KEY: 'from the environment' }, encoding: 'utf8' })
    .split('\0')
    .slice(0, -1);
}

it('a copied command gives the shell the very operation and headers, and the key from the environment', () => {
  const query = `query Odd($name: String) {\n  pets(filter: { nameContains: "it's $HOME \`id\` \\\\ !" }) { totalCount }\n}`;
  const headers = { authorization: 'Bearer typed', 'X-API-Key': 'typed', 'X-Note': "it's $(id)" };
  const command = curlFor({ query, variables: '{ "name": "O\'Hara" }' }, headers, 'http://127.0.0.1:4000/graphql');
  expect(command).not.toContain('typed');
  const [, url, ...options] = argumentsOf(command);
  expect(url).toBe('http://127.0.0.1:4000/graphql');
  expect(options.slice(0, -1)).toEqual([
    '-H',
    'Authorization: Bearer from the environment',
    '-H',
    'Content-Type: application/json',
    '-H',
    "X-Note: it's $(id)",
    '-d',
  ]);
  expect(JSON.parse(options.at(-1)!)).toEqual({ query, variables: { name: "O'Hara" } });
});

it('a copied command names the operation to run where there are several, and streams it if it is a subscription', () => {
  const query = 'query First { pets { totalCount } }\nsubscription Second { events { type } }';
  const dataOf = (operationName: string) =>
    JSON.parse(argumentsOf(curlFor({ query, operationName }, {}, '/graphql')).at(-1)!);
  expect(dataOf('First')).toEqual({ query, operationName: 'First' });
  expect(dataOf('Second')).toEqual({ query, operationName: 'Second' });
  expect(curlFor({ query, operationName: 'Second' }, {}, '/graphql')).toMatch(/^curl -sS -N .*text\/event-stream/s);
  expect(curlFor({ query, operationName: 'First' }, {}, '/graphql')).not.toContain('event-stream');
});
