// Who may import whom. `.ci/check-imports.mjs` runs it and makes sure that nothing was overlooked.

/**
 * The parts of the platform, and which others each stands on. They import nothing of the petstore, and of each other
 * only `index.ts`; so does the petstore.
 */
const parts = {
  callers: [],
  postgres: ['callers'],
  http: ['callers'],
  quotas: [],
  embedded: ['postgres'],
  executor: [],
  feed: [],
  delivery: [],
  egress: [],
  workers: [],
};
/** What every part may use. */
const tools = [
  'platform/background',
  'platform/control-group',
  'platform/lru-map',
  'platform/remote-clock',
  'platform/shown-error',
  'platform/shown-url',
];
const platform = [...Object.keys(parts).map((part) => `platform/${part}`), ...tools];

/** What each module of src/ may import besides itself, the public packages and Node's own modules. */
const modules = {
  ...Object.fromEntries(
    Object.entries(parts).map(([part, others]) => [
      `platform/${part}`,
      [...others.map((other) => `platform/${other}`), ...tools],
    ]),
  ),
  ...Object.fromEntries(tools.map((tool) => [tool, []])),
  domain: ['platform/quotas', 'platform/remote-clock'],
  keys: ['domain', 'platform/quotas', ...tools],
  webhooks: ['domain', 'platform/delivery', 'platform/egress', 'platform/feed', 'settings/version', ...tools],
  database: [
    'domain',
    'migrations',
    'platform/callers',
    'platform/delivery',
    'platform/embedded',
    'platform/feed',
    'platform/postgres',
    'platform/quotas',
    'settings/database-url',
    'settings/failed-database',
    ...tools,
  ],
  http: ['domain', 'keys', 'platform/callers', 'platform/http', 'platform/quotas', ...tools],
  rest: ['domain', 'http', 'platform/callers', 'platform/http'],
  graphql: [
    'domain',
    'http',
    'keys',
    'platform/callers',
    'platform/executor',
    'platform/feed',
    'platform/http',
    'platform/quotas',
    ...tools,
  ],
  pages: ['domain', 'graphql', 'http', 'rest', 'platform/executor', 'platform/http', 'platform/quotas'],
  cli: [
    'database',
    'domain',
    'graphql',
    'platform/callers',
    'platform/embedded',
    'process/node-version',
    'settings',
    'webhooks',
    ...tools,
  ],
  app: [
    'database',
    'domain',
    'graphql',
    'http',
    'keys',
    'pages',
    'process/listen',
    'process/metrics-pages',
    'process/shared-parts',
    'rest',
    'settings',
    'webhooks',
    ...platform,
  ],
  settings: ['platform/postgres', 'platform/quotas', ...tools],
  process: ['app', 'database', 'domain', 'http', 'pages/pending-pages', 'rest', 'settings', 'webhooks', ...platform],
  main: ['process', 'settings'],
};

/** A module is a folder of src/, one file in it, or migrations/. */
const pathOf = (module) => (module === 'migrations' ? '^migrations/' : `^src/${module}(/|[.]ts$)`);

/** Runs in the browser, built beforehand. */
const pageSource = '^src/pages/(explorer|guides)/';

const packages = (...names) => `^node_modules/(${names.join('|')})/`;

const moduleRules = Object.entries(modules).map(([module, others]) => ({
  name: `${module}-imports`,
  comment: `${module} may import ${[module, ...others].join(', ')} and nothing else of ours.`,
  severity: 'error',
  from: { path: pathOf(module) },
  to: { path: '^(src|migrations)/', pathNot: [module, ...others].map(pathOf) },
}));

const entryRules = Object.keys(parts).map((part) => ({
  name: `${part}-by-its-entry`,
  comment: `Of platform/${part} only index.ts is imported by others.`,
  severity: 'error',
  from: { path: '^src/', pathNot: pathOf(`platform/${part}`) },
  to: { path: pathOf(`platform/${part}`), pathNot: `^src/platform/${part}/index[.]ts$` },
}));

export default {
  forbidden: [
    ...moduleRules,
    ...entryRules,
    {
      name: 'known-modules',
      comment: 'A new module needs a row in the table above.',
      severity: 'error',
      from: {},
      to: { path: '^src/', pathNot: Object.keys(modules).map(pathOf) },
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
      from: { path: '^src/database/(kysely-dialect|entity-manager)[.]ts$' },
      to: { path: [pathOf('domain'), pathOf('http')] },
    },
    {
      name: 'driver-only-in-postgres',
      comment: "PostgreSQL's protocol is known to its client and to the embedded server only.",
      severity: 'error',
      from: { path: '^src/', pathNot: ['platform/postgres', 'platform/embedded'].map(pathOf) },
      to: { path: packages('pg', 'pg-protocol') },
    },
    {
      name: 'mikro-orm-only-in-database',
      comment: 'Stores and migrations are made with MikroORM.',
      severity: 'error',
      from: { path: '^src/', pathNot: pathOf('database') },
      to: { path: packages('@mikro-orm/(?!core/)[^/]+', 'kysely') },
    },
    {
      name: 'pglite-only-in-embedded',
      comment: 'To everything else the embedded engine is a PostgreSQL address.',
      severity: 'error',
      from: { path: '^src/', pathNot: pathOf('platform/embedded') },
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
      comment: 'TypeGraphQL and Apollo Server stay in one folder.',
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
      comment: 'Types may name each other.',
      severity: 'error',
      from: { path: '^(src|migrations|test)/' },
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'table-of-nouns-without-cycles',
      comment: 'It names what nouns are; services and stores are made of it, and not even its types need theirs.',
      severity: 'error',
      from: { path: '^src/domain/nouns[.]ts$' },
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
    // Copies in which recipes are tried share the packages by a link.
    preserveSymlinks: true,
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
