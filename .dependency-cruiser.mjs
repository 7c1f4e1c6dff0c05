// Who may import whom. `.ci/check-imports.mjs` runs it and makes sure that nothing was overlooked.

/** What each room of src/ may import besides itself, the public packages and Node's own modules. */
const rooms = {
  account: [],
  background: [],
  'shown-error': [],
  domain: [],
  counters: ['background', 'domain'],
  keys: ['background', 'domain'],
  postgres: ['account', 'background'],
  embedded: ['background', 'postgres'],
  database: ['account', 'background', 'domain', 'embedded', 'migrations', 'postgres', 'shown-error'],
  feed: ['background'],
  http: ['account', 'background', 'domain', 'keys', 'shown-error'],
  rest: ['account', 'http', 'domain'],
  graphql: ['account', 'background', 'domain', 'feed', 'http', 'keys'],
  pages: ['domain', 'graphql', 'http', 'rest'],
  cli: ['account', 'config', 'database', 'domain', 'embedded', 'graphql', 'node-version', 'shown-error'],
  app: [
    'account',
    'background',
    'config',
    'counters',
    'database',
    'domain',
    'embedded',
    'feed',
    'graphql',
    'http',
    'keys',
    'pages',
    'rest',
  ],
  config: ['counters', 'postgres'],
  main: ['app', 'config', 'database', 'embedded', 'heap', 'http', 'node-version', 'shown-error'],
  heap: [],
  'node-version': [],
};

/** A room is a folder of src/, one file in it, or migrations/. */
const pathOf = (room) => (room === 'migrations' ? '^migrations/' : `^src/${room}(/|[.]ts$)`);

/** Runs in the browser, built beforehand. */
const pageSource = '^src/pages/(explorer|guides)/';

const packages = (...names) => `^node_modules/(${names.join('|')})/`;

const roomRules = Object.entries(rooms).map(([room, others]) => ({
  name: `${room}-imports`,
  comment: `${room} may import ${[room, ...others].join(', ')} and nothing else of ours.`,
  severity: 'error',
  from: { path: pathOf(room) },
  to: { path: '^(src|migrations)/', pathNot: [room, ...others].map(pathOf) },
}));

export default {
  forbidden: [
    ...roomRules,
    {
      name: 'known-rooms',
      comment: 'A new room needs a row in the table above.',
      severity: 'error',
      from: {},
      to: { path: '^src/', pathNot: Object.keys(rooms).map(pathOf) },
    },
    {
      name: 'domain-packages',
      comment: 'The domain knows no HTTP, REST, GraphQL or driver.',
      severity: 'error',
      from: { path: pathOf('domain') },
      to: { path: '^node_modules/', pathNot: packages('@mikro-orm/core') },
    },
    {
      name: 'domain-without-sockets-and-timers',
      comment: 'What the store is does not depend on time that passes or on who is connected.',
      severity: 'error',
      from: { path: pathOf('domain') },
      to: { path: '^(node:)?(net|tls|http|https|dns|timers)(/|$)' },
    },
    {
      name: 'connections-without-domain',
      comment: 'How statements share connections and transactions does not depend on what the store is.',
      severity: 'error',
      from: { path: '^src/database/(lease|client-batches|shared-transactions|kysely-dialect|session)[.]ts$' },
      to: { path: [pathOf('domain'), pathOf('http')] },
    },
    {
      name: 'driver-only-in-postgres',
      comment: "PostgreSQL's protocol is known to its client only.",
      severity: 'error',
      from: { path: '^src/', pathNot: pathOf('postgres') },
      to: { path: packages('pg', 'pg-protocol', 'pg-connection-string') },
    },
    {
      name: 'mikro-orm-only-in-database',
      comment: 'Stores and migrations are made with MikroORM; the client knows nothing of it.',
      severity: 'error',
      from: { path: '^src/', pathNot: pathOf('database') },
      to: { path: packages('@mikro-orm/(?!core/)[^/]+', 'kysely') },
    },
    {
      name: 'pglite-only-in-embedded',
      comment: 'To everything else the embedded engine is a PostgreSQL address.',
      severity: 'error',
      from: { path: '^src/', pathNot: pathOf('embedded') },
      to: { path: packages('@electric-sql/[^/]+') },
    },
    {
      name: 'mikro-orm-core-only-in-entities',
      comment: 'Beside the database, only entities know MikroORM: they describe their tables with it.',
      severity: 'error',
      from: { path: '^src/', pathNot: [pathOf('database'), '^src/domain/.+[.]entity[.]ts$'] },
      to: { path: packages('@mikro-orm/core') },
    },
    {
      name: 'graphql-packages-only-in-graphql',
      comment: 'TypeGraphQL and Apollo Server stay in one room.',
      severity: 'error',
      from: { path: '^src/', pathNot: pathOf('graphql') },
      to: { path: packages('type-graphql', '@apollo/server') },
    },
    {
      name: 'page-stands-alone',
      comment: 'The page and the server meet over HTTP only.',
      severity: 'error',
      from: { path: pageSource },
      to: { path: '^(src|migrations)/', pathNot: pageSource },
    },
    {
      name: 'server-without-page',
      comment: 'What runs in the browser has nothing to say in the server.',
      severity: 'error',
      from: { path: '^(src|migrations)/', pathNot: pageSource },
      to: { path: pageSource },
    },
    {
      name: 'migrations-stand-alone',
      comment: 'A migration that has run must not change with the code, so it imports nothing of it.',
      severity: 'error',
      from: { path: '^migrations/' },
      to: { pathNot: ['^migrations/', packages('@mikro-orm/migrations')] },
    },
    {
      name: 'no-tests-in-production',
      severity: 'error',
      from: { path: '^(src|migrations)/' },
      to: { path: '^test/' },
    },
    {
      name: 'no-development-packages-in-production',
      comment: 'What src/ and migrations/ import must be in "dependencies"; the explorer\'s page is bundled.',
      severity: 'error',
      from: { path: '^(src|migrations)/', pathNot: pageSource },
      to: { dependencyTypes: ['npm-dev', 'npm-optional', 'npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'no-cycles',
      severity: 'error',
      from: { path: '^(src|migrations|test)/' },
      to: { circular: true },
    },
    {
      name: 'resolvable',
      comment: 'An import that can not be found can not be checked either.',
      severity: 'error',
      from: { path: '^(src|migrations|test)/' },
      to: { couldNotResolve: true },
    },
  ],
  options: {
    parser: 'tsc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: '^node_modules/' },
    // The clients are programs with packages of their own.
    exclude: { path: '^test/(clients|[^/]+/node_modules)/' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['node', 'import', 'default'],
    },
  },
};
