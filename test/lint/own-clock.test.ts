import { globSync, readFileSync } from 'node:fs';

import { expect, it } from '@jest/globals';

/** Where this process's own clock is read, and why nothing that processes share is timed by it. */
const known: Readonly<Record<string, string>> = {
  'src/platform/remote-clock.ts': 'until the clock of the database was read for the first time',
  'src/database/clock-watch.ts': 'to compare it with that of the database',
  'src/http/broken-request.ts': 'the header `Date`',
  'src/http/observe/request-log.ts': 'the time of a line in the log',
};

it("what processes share is timed by the database's clock or Redis': this process's own is read in few places", () => {
  const ownClock = /\bDate\.now\b|\bnew Date(?:\(\)|(?!\w|\())|(?<!new )\bDate\(\)|\btimeOrigin\b|\bTemporal\b/;
  const code = (path: string): string => readFileSync(path, 'utf8').replaceAll(/\/\*[^]*?\*\/|\/\/.*/g, '');
  const found = globSync('src/**/*.ts', { exclude: ['src/pages/explorer/**'] }).filter((path) =>
    ownClock.test(code(path)),
  );
  expect(found.toSorted()).toEqual(Object.keys(known).toSorted());
});
