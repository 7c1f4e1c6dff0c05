import { existsSync } from 'node:fs';
import { join } from 'node:path';

import type { Config } from '../settings/config.ts';

/** An image has the program, but not what npm's scripts build it with. */
function keysCommand(): string {
  const canBuild = existsSync(join(import.meta.dirname, '../../../.ci/build.mjs'));
  return canBuild ? 'npm run -s keys --' : 'node dist/src/cli/keys.js';
}

/** The text that a start prints for people. */
export function welcome(address: string, { databaseUrl, dataDir }: Config, demoKey: string | undefined): string {
  const store = databaseUrl === undefined ? `in ${dataDir}` : 'on your PostgreSQL';
  const open = `\nThe store is open at ${address}, its data ${store}.\n`;
  if (demoKey === undefined) {
    return `${open}
Requests need a key. This makes one, with the settings that the service has:

  ${keysCommand()} create --name me --plan business

The explorer is at ${address}/graphiql

`;
  }
  const query = '{ pets(first: 3) { edges { node { name status category { name } } } } }';
  return `${open}
Try it, with the demo key:

  curl ${address}/graphql -H 'authorization: Bearer ${demoKey}' \\
    -H 'content-type: application/json' -d '{"query":"${query}"}'

Or in the explorer:

  ${address}/graphiql#key=${demoKey}

`;
}
