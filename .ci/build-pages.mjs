// Builds what the pages at /graphiql and /docs load into dist/explorer and dist/docs; each unless it is there already
// from the same files.
import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

import { buildOnce, fingerprintOf, isBuilt, withImports } from './build-once.mjs';

const explorer = 'src/pages/explorer';
const [key, names, codes] = ['.ci/scalar-key.js', '.ci/scalar-names.js', '.ci/scalar-codes.js'];

const pages = [
  {
    name: 'the explorer',
    target: 'dist/explorer',
    sources: ['package-lock.json', '.ci/explorer-config.mjs', `${explorer}/**/*.*`],
    build: buildExplorer,
  },
  {
    name: 'the guides and the reference page',
    target: 'dist/docs',
    sources: [
      'package-lock.json',
      '.ci/guides.mjs',
      key,
      names,
      codes,
      'src/pages/reference/*.md',
      'src/pages/guides/{,.vitepress/,.vitepress/theme/}*.*',
      'src/rest/openapi/*.yaml',
      '.github/CHANGELOG.md',
      'test/clients/{*,!(generated)/*}.ts',
      'test/clients/{package,guides.tsconfig}.json',
    ],
    build: buildDocs,
  },
].map((page) => ({ ...page, builtFrom: fingerprintOf(inputsOf(page)) }));

// With --check nothing is built: the status tells whether all is there.
if (process.argv.includes('--check'))
  process.exit(pages.every(({ target, builtFrom }) => isBuilt(target, builtFrom)) ? 0 : 1);
// The service that it belongs to has ended.
process.once('SIGTERM', () => process.exit(1));
await Promise.all(pages.map(buildPage));
// See build.mjs.
if (existsSync('dist/pages-pending')) rmSync('dist/pages-pending', { force: true });

function inputsOf({ sources }) {
  return [...withImports(globSync(sources)), '.ci/build-pages.mjs', '.ci/build-once.mjs'];
}

function buildPage({ name, target, builtFrom, build }) {
  return buildOnce(target, builtFrom, async (folder) => {
    process.stderr.write(`Building ${name} (only when it has changed) …\n`);
    const started = performance.now();
    await build(folder);
    process.stderr.write(`Built ${name} in ${Math.round((performance.now() - started) / 1000)} s.\n`);
  });
}

async function buildExplorer(folder) {
  const [vite, { explorerConfig }] = await Promise.all([import('vite'), import('./explorer-config.mjs')]);
  await vite.build(explorerConfig({ source: explorer, target: `${process.cwd()}/${folder}` }));
  for (const file of globSync(`${folder}/**/*.{html,js,css,ttf,svg}`)) compress(file);
}

async function buildDocs(folder) {
  const { buildGraphQLGuides, buildRestGuides } = await import('./guides.mjs');
  const building = buildGraphQLGuides(folder);
  writeFileSync(`${folder}/guides.json`, JSON.stringify(await buildRestGuides()));
  const parts = [
    readFileSync(key, 'utf8'),
    'keyIsThere.finally(() => {',
    await scalarScript(),
    '});',
    ...[names, codes].map((file) => readFileSync(file, 'utf8')),
  ];
  writeFileSync(`${folder}/scalar.js`, parts.join('\n'));
  compress(`${folder}/scalar.js`);
  await building;
  for (const file of globSync(`${folder}/graphql/assets/**/*.{js,css}`)) compress(file);
}

/** The package gives its script away only through routes of its own. */
async function scalarScript() {
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  const { fastify } = await import('fastify');
  const server = fastify();
  await server.register(scalar, { routePrefix: '/', configuration: { url: '/openapi.json' } });
  const { statusCode, rawPayload } = await server.inject('/js/scalar.js');
  await server.close();
  if (statusCode !== 200) throw new Error(`The package of the reference page has no script: ${statusCode}.`);
  return String(rawPayload);
}

function compress(file) {
  const content = readFileSync(file);
  if (content.length < 1024) return;
  writeFileSync(`${file}.br`, brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }));
  writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
}
