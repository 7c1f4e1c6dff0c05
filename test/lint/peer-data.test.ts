import { globSync, readFileSync } from 'node:fs';

import { expect, it } from '@jest/globals';

/** Handlers of what a peer sends, and why nothing that is thrown in one ends the process. */
const known: Readonly<Record<string, string>> = {
  'src/platform/postgres/row-parser.ts':
    'catches whatever is thrown and ends the connection: `faults/damaged-messages.test.ts`',
  'src/platform/http/body.ts': 'keeps and counts bytes within a size that was asked for',
};

it('what a peer sends is handled in few places, each of which is known to catch what it throws', () => {
  const handler = /\.(?:on|once|addListener|prependListener)\('(?:data|readable|push|notification)'/;
  const found = globSync('src/**/*.ts').filter((path) => handler.test(readFileSync(path, 'utf8')));
  expect(found.toSorted()).toEqual(Object.keys(known).toSorted());
});
