import { globSync, readFileSync } from 'node:fs';

import { expect, it } from '@jest/globals';

/** Handlers of what a peer sends or does, and why nothing that is thrown in one ends the process. */
const known: Readonly<Record<string, string>> = {
  'src/main.ts': 'handles what nothing else has caught',
  'src/platform/embedded/engine-thread.ts': 'gets one of two words of its own thread',
  'src/platform/embedded/engine.worker.ts': 'ends the thread, and says so: `embedded/embedded-postgres.test.ts`',
  'src/platform/http/body.ts': 'keeps and counts bytes within a size that was asked for',
  'src/platform/http/connections.ts': 'counts a new connection',
  'src/platform/http/drain.ts': 'counts a new connection',
  'src/platform/http/node-server.ts': 'begins a request by `attempt`: `platform/http/node-server.test.ts`',
  'src/platform/postgres/cancel-request.ts': 'sends a constant message: nothing that the server says is read',
  'src/platform/postgres/connection.ts': 'is called by the handler of row-parser.ts',
  'src/platform/postgres/row-parser.ts':
    'catches whatever is thrown and ends the connection: `faults/database/damaged-messages.test.ts`',
};

it('what a peer sends is handled in few places, each of which is known to catch what it throws', () => {
  // These bring nothing of a peer's.
  const quiet = 'abort|close|drain|drop|end|error|exit|finish|listening';
  const handler = new RegExp(
    String.raw`\.(?:on|once|(?:add|prepend)(?:Event)?Listener)\(\s*(?!'(?:${quiet})')['"\x60]\w`,
  );
  const found = globSync('src/**/*.ts', { exclude: ['src/pages/explorer/**'] }).filter((path) =>
    handler.test(readFileSync(path, 'utf8')),
  );
  expect(found.toSorted()).toEqual(Object.keys(known).toSorted());
});
