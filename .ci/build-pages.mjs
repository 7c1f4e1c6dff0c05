// Builds what the pages at /graphiql and /docs load into dist/explorer and dist/docs; each unless it is there already
// from the same files.
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const explorer = { source: 'src/pages/explorer', target: 'dist/explorer' };
const docs = 'dist/docs';
const [key, names, codes] = ['.ci/scalar-key.js', '.ci/scalar-names.js', '.ci/scalar-codes.js'];

await Promise.all([
  buildOnce(
    'the explorer',
    explorer.target,
    ['package-lock.json', '.ci/{build-pages,explorer-config}.mjs', `${explorer.source}/**/*.*`],
    buildExplorer,
  ),
  buildOnce(
    'the guides and the reference page',
    docs,
    [
      'package-lock.json',
      '.ci/{build-pages,guides,openapi}.mjs',
      key,
      names,
      codes,
      'src/pages/reference/*.md',
      'src/pages/guides/{,.vitepress/,.vitepress/theme/}*.*',
      'src/rest/openapi/*.yaml',
      'test/clients/{*,*/*}.ts',
      'test/clients/{package,guides.tsconfig}.json',
    ],
    buildDocs,
  ),
]);

/** Runs `build`, which fills the folder `target`, unless it has run on these very files. */
async function buildOnce(name, target, sources, build) {
  const fingerprint = createHash('sha256');
  for (const file of globSync(sources).toSorted()) {
    fingerprint.update(file).update('\0').update(readFileSync(file)).update('\0');
  }
  const builtFrom = fingerprint.digest('hex');
  const stamp = `${target}/built-from`;
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === builtFrom) return;
  process.stderr.write(`Building ${name} (only when it has changed) …\n`);
  const started = performance.now();
  await build();
  writeFileSync(stamp, builtFrom);
  process.stderr.write(`Built ${name} in ${Math.round((performance.now() - started) / 1000)} s.\n`);
}

async function buildExplorer() {
  const [vite, { explorerConfig }] = await Promise.all([import('vite'), import('./explorer-config.mjs')]);
  await vite.build(explorerConfig({ source: explorer.source, target: `${process.cwd()}/${explorer.target}` }));
  for (const file of globSync(`${explorer.target}/**/*.{html,js,css,ttf,svg}`)) compress(file);
}

async function buildDocs() {
  const { buildGraphQLGuides, buildRestGuides } = await import('./guides.mjs');
  mkdirSync(docs, { recursive: true });
  const building = buildGraphQLGuides();
  writeFileSync(`${docs}/guides.json`, JSON.stringify(await buildRestGuides()));
  const parts = [
    readFileSync(key, 'utf8'),
    'keyIsThere.finally(() => {',
    await scalarScript(),
    '});',
    ...[names, codes].map((file) => readFileSync(file, 'utf8')),
  ];
  writeFileSync(`${docs}/scalar.js`, parts.join('\n'));
  compress(`${docs}/scalar.js`);
  await building;
  for (const file of globSync(`${docs}/graphql/assets/**/*.{js,css}`)) compress(file);
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
