import { globSync, readFileSync } from 'node:fs';

import { expect, it } from '@jest/globals';

interface Watched {
  readonly guarantee: string;
  readonly pattern: RegExp;
  /** The files where it is, and why that does no harm there. */
  readonly places: Readonly<Record<string, string>>;
}

// These bring nothing of a peer's.
const quiet = 'abort|close|drain|drop|end|error|exit|finish|listening';

const watched: readonly Watched[] = [
  {
    guarantee: "what processes share is timed by the database's clock or Redis', not by this process's own",
    pattern: /\bDate\.now\b|\bnew Date(?:\(\)|(?!\w|\())|(?<!new )\bDate\(\)|\btimeOrigin\b|\bTemporal\b/,
    places: {
      'src/platform/remote-clock.ts': 'until the clock of the database was read for the first time',
      'src/database/clock-watch.ts': 'to compare it with that of the database',
      'src/http/broken-request.ts': 'the header `Date`',
      'src/http/observe/request-log.ts': 'the time of a line in the log',
    },
  },
  {
    guarantee: 'what a peer sends or does is handled where nothing that is thrown ends the process',
    pattern: new RegExp(String.raw`\.(?:on|once|(?:add|prepend)(?:Event)?Listener)\(\s*(?!'(?:${quiet})')['"\x60]\w`),
    places: {
      'src/process/service-process.ts': 'handles what nothing else has caught',
      'src/platform/workers/message-pipe.ts': 'reads what another process of the same program has written',
      'src/platform/egress/bounded-socket.ts': 'counts bytes, and passes on as many as it was allowed to',
      'src/platform/egress/connection.ts': 'notes that a handshake has ended',
      'src/platform/egress/sender.ts': 'counts bytes of a response, which is decided by its status',
      'src/platform/workers/connection-queue.ts': 'queues a connection, of which nothing is read',
      'src/platform/workers/handed-connections.ts': 'gives a connection of the primary to the server',
      'src/database/start/migrate.ts': 'notes when a migration has begun, of the migrator in this process',
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
    },
  },
  {
    guarantee: 'what a type of values needs is in the tables of types: no other place asks for a type by its name',
    pattern:
      /(?:[=!]==|\bcase) '(?:text|integer|decimal|instant)'|(?:startsWith\(|[=!]==) ?'(?:timestamptz|numeric|jsonb)/,
    places: {
      'src/http/failure-response.ts': 'the format of a page, in text',
      'src/http/broken-request.ts': 'the same',
      'src/rest/domain-rules.ts': "JSON Schema's `integer`",
      'src/rest/schema-check.ts': 'the same',
      'src/rest/parameters.ts': 'the same',
    },
  },
  {
    guarantee:
      'what clients send begins in ticks alone: no other server is made, and nobody else listens to its events',
    pattern:
      /\.(?:on|once)\(\s*'(?:request|upgrade|checkContinue|checkExpectation|clientError)'|\bclientErrorHandler\b|\bfastify\(\{|\bcreateServer\b[^;]*from 'node:https?'/,
    places: {
      'src/http/observe/metrics-server.ts': 'stands on `createNodeServer`, and destroys what is no request',
      'src/http/server.ts': 'stands on `createNodeServer`, and what is no request is refused by `refuse`',
      'src/platform/http/node-server.ts': 'begins all of it by its connection: `http/ticks.test.ts`',
      'src/platform/egress/sender.ts': 'of a receiver, whose upgrade is a failure',
    },
  },
  {
    // V8 makes such a function old from the start, and with it all that it refers to.
    guarantee: 'no function of a request is assigned to a property as it is written: a constant is',
    pattern:
      /^ *[\w.#]+\.#?\w+ (?:\?\?|\|\|)?= (?:async )?(?:function\b|\w+ =>|\([^()]*(?:\([^()]*\)[^()]*)*\)(?:: [^=]+)? =>)/m,
    places: {
      'src/graphql/safe-writes/root-mutations.ts': 'for each mutation of the schema',
      'src/graphql/scopes.ts': 'for each field of the schema',
      'src/platform/executor/run.ts': 'for each failure at a place that must not be null',
      'src/platform/http/connection.ts': 'when a client is disconnected',
      'src/platform/http/connections.ts': 'once',
      'src/platform/postgres/cancel-request.ts': 'for each connection that cancels a statement',
      'src/platform/postgres/row-parser.ts': 'for each connection',
    },
  },
];

const code = (path: string): string => readFileSync(path, 'utf8').replaceAll(/\/\*[^]*?\*\/|\/\/.*/g, '');

it.each(watched)('$guarantee', ({ pattern, places }) => {
  const found = globSync('src/**/*.ts', { exclude: ['src/pages/explorer/**'] }).filter((path) =>
    pattern.test(code(path)),
  );
  expect(found.toSorted()).toEqual(Object.keys(places).toSorted());
});
