import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';

import { expect, it } from '@jest/globals';
import { Kysely } from 'kysely';
import { BufferReader } from 'pg-protocol/dist/buffer-reader.js';
import { Parser } from 'pg-protocol/dist/parser.js';
import pg from 'pg';
import { getMetadataStorage } from 'type-graphql';

import { createSchema } from '../src/graphql/schema.ts';
import { programPath } from './support/postgres-cluster.ts';
import { startCluster } from './support/started-cluster.ts';
import { startTestApp } from './support/test-app.ts';

/** What the program, or what runs its tests, uses of another package beyond its documentation. */
interface PrivateUse {
  readonly files: readonly string[];
  readonly package: string;
  /** For which the package was read. With another, read it again, run the tests that depend on it, and change this. */
  readonly version: string;
  /** What has to be there: of an object, the members of these names. */
  readonly parts?: () => readonly (readonly [owner: object, ...names: string[]])[];
}

const client: object & { readonly connection?: object } = new pg.Client();

const uses: readonly PrivateUse[] = [
  {
    files: [
      'src/platform/postgres/pg-internals.ts',
      'src/platform/postgres/connection.ts',
      'src/platform/postgres/cancel-request.ts',
      'src/platform/postgres/checked-query.ts',
    ],
    package: 'pg',
    version: '8.23.1',
    parts: () => [
      [pg.Client.prototype, 'getStartupConf', 'getTransactionStatus'],
      [pg.Connection.prototype, 'attachListeners', 'cancel', 'requestSsl'],
      [client, 'processID', 'secretKey'],
      [
        pg.Query.prototype,
        ...['RowDescription', 'DataRow', 'CommandComplete', 'EmptyQuery', 'ReadyForQuery'].map(
          (each) => `handle${each}`,
        ),
        'requiresPreparation',
      ],
      [new pg.Query('select 1'), '_canceledDueToError'],
      [client.connection!, 'parsedStatements', 'submittedNamedStatements', 'stream'],
    ],
  },
  {
    files: ['src/platform/postgres/row-parser.ts', 'src/platform/postgres/connection-failure.ts'],
    package: 'pg-protocol',
    version: '1.16.1',
    parts: () => [
      [Parser.prototype, 'parse', 'handlePacket'],
      [new Parser(), 'buffer', 'bufferOffset', 'bufferLength', 'reader'],
      [BufferReader.prototype, 'setBuffer', 'string'],
      [new BufferReader(), 'offset'],
    ],
  },
  { files: ['src/platform/embedded/engine.worker.ts'], package: '@electric-sql/pglite-socket', version: '0.2.17' },
  {
    files: ['src/graphql/direct-resolvers.ts'],
    package: 'type-graphql',
    version: '2.0.0-rc.4',
    parts: () => {
      createSchema();
      return [
        [
          getMetadataStorage(),
          'queries',
          'mutations',
          'subscriptions',
          'fieldResolvers',
          'objectTypes',
          'interfaceTypes',
        ],
      ];
    },
  },
  {
    files: ['src/database/kysely-dialect.ts'],
    package: 'kysely',
    version: '0.29.6',
    parts: () => [[Kysely.prototype, 'getExecutor']],
  },
  // It validates the `document` that its request has after `validationDidStart`: tried in `graphql/attacks.test.ts`.
  { files: ['src/graphql/pipeline/apollo.ts'], package: '@apollo/server', version: '5.5.1' },
  // The name of its listener: tried in `hostile/remembered.test.ts`.
  { files: ['src/platform/http/bounded-request.ts'], package: 'fastify', version: '5.12.8' },
  { files: ['test/jest/runtime.ts'], package: 'jest-runner', version: '30.5.2' },
  { files: ['test/jest/runtime.ts'], package: 'jest-circus', version: '30.5.2' },
  // The parser is tried in `platform/http/node.test.ts`, `_handle` in `platform/http/connections.test.ts`, V8's flags below.
  {
    files: ['src/platform/http/connection.ts', 'src/process/heap.ts', 'src/platform/embedded/engine-thread.ts'],
    package: 'node',
    version: '24.21.0',
  },
];

it.each(uses)('of $package $version what is private is still there', ({ package: name, version, parts }) => {
  expect(JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8'))).toMatchObject({ version });
  for (const [owner, ...names] of parts?.() ?? []) {
    expect(names.filter((each) => !(each in owner))).toEqual([]);
  }
});

// `.ci/run` installs one. The embedded database has no pipelines.
const isServerInstalled = spawnSync(programPath('initdb'), ['--version']).status === 0;
if (isServerInstalled) {
  it('what is private of `pg` works on a server, with pipelines and in transactions', async () => {
    const cluster = await startCluster();
    const service = await startTestApp({ DATABASE_URL: cluster.url });
    const name = 'Through a pipeline';
    const created = await service.graphql(
      `mutation { createCategory(input: { name: "${name}" }) { category { id } } }`,
    );
    expect(created.status).toBe(200);
    const { id } = (created.data as { createCategory: { category: { id: string } } }).createCategory.category;
    const reads = await Promise.all(
      Array.from({ length: 20 }, () => service.graphql(`{ category(id: "${id}") { name } }`)),
    );
    expect(reads.map(({ data }) => data)).toEqual(reads.map(() => ({ category: { name } })));
  });
}

it('the flags of V8 that are set while it runs are there: others are ignored', () => {
  const known = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });
  const flagsOf = (file: string): string[] =>
    [...readFileSync(file, 'utf8').matchAll(/[([ ][`']--(?:no-)?([a-z-]+)/g)].map(([, name]) => name!);
  const names = ['src/process/heap.ts', 'src/platform/embedded/engine-thread.ts'].flatMap(flagsOf);
  expect(names).toEqual(expect.arrayContaining(['heap-growing-percent', 'liftoff-only', 'wasm-tier-up']));
  expect(names.filter((name) => !known.includes(` --${name} `))).toEqual([]);
});

it('what Jest calls of its runtime is there, but for options that are not set', () => {
  const callers = [
    'jest-runner/build/testWorker.js',
    'jest-circus/build/runner.js',
    'jest-circus/build/jestAdapterInit.js',
  ];
  const text = callers.map((file) => readFileSync(`node_modules/${file}`, 'utf8')).join('\n');
  const called = new Set([...text.matchAll(/\bruntime\.(\w+)/g)].map(([, name]) => name!));
  const own = readFileSync('test/jest/runtime.ts', 'utf8');
  expect([...called].filter((name) => !own.includes(` ${name}(`)).toSorted()).toEqual([
    'clearAllMocks',
    'collectV8Coverage',
    'getAllV8CoverageInfoCopy',
    'resetAllMocks',
    'resetModules',
    'restoreAllMocks',
    'stopCollectingV8Coverage',
  ]);
  expect(text).toContain("Symbol.for('EVENT_HANDLERS')");
});

it('every file that goes around the types of a package is in the list', () => {
  const around =
    /as unknown as|\/dist\/|getMetadataStorage|\b_handle\b|setFlagsFromString|\bunstable_|getExecutor|assign\(request|onResFinished/;
  const files = globSync(['src/**/*.ts', 'test/jest/*.ts']).filter((file) => around.test(readFileSync(file, 'utf8')));
  const listed = new Set(uses.flatMap((use) => use.files));
  expect(files.filter((file) => !file.startsWith('src/pages/')).toSorted()).toEqual([...listed].toSorted());
});
