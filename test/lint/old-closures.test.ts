import { globSync, readFileSync } from 'node:fs';

import { expect, it } from '@jest/globals';

/** How often functions are assigned to properties as they are written: never once for each request. */
const known: Readonly<Record<string, string>> = {
  'src/graphql/safe-writes/root-mutations.ts': 'for each mutation of the schema',
  'src/graphql/scopes.ts': 'for each field of the schema',
  'src/platform/http/connection.ts': 'when a client is disconnected',
  'src/platform/http/connections.ts': 'once',
  'src/platform/postgres/cancel-request.ts': 'for each connection that cancels a statement',
  'src/platform/postgres/row-parser.ts': 'for each connection',
};

// V8 makes such a function old from the start, and with it all that it refers to.
it('no function of a request is assigned to a property as it is written: a constant is', () => {
  const assigned =
    /^ *[\w.#]+\.#?\w+ (?:\?\?|\|\|)?= (?:async )?(?:function\b|\w+ =>|\([^()]*(?:\([^()]*\)[^()]*)*\)(?:: [^=]+)? =>)/m;
  const found = globSync('src/**/*.ts', { exclude: ['src/pages/explorer/**'] }).filter((path) =>
    assigned.test(readFileSync(path, 'utf8')),
  );
  expect(found.toSorted()).toEqual(Object.keys(known).toSorted());
});
