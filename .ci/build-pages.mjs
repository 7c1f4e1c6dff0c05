// Builds what the pages at /graphiql and /docs load into dist/explorer and dist/docs, unless it is there already from the same files.
// With --watch it stays, and builds the explorer again whenever one of its files changes.
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

import { explorerConfig } from './explorer-config.mjs';

const source = 'src/pages/explorer';
const target = 'dist/explorer';
const script = 'dist/docs/scalar.js.gz';
const stamp = 'dist/.pages-built-from';

if (readStamp() !== fingerprint() || ![target, script].every((output) => existsSync(output))) {
  process.stderr.write(
    'Building the explorer and the reference page (a few seconds, and only when they have changed) … ',
  );
  const started = performance.now();
  await buildExplorer();
  await buildReference();
  writeFileSync(stamp, fingerprint());
  process.stderr.write(`${Math.round((performance.now() - started) / 1000)} s\n`);
}

if (process.argv.includes('--watch')) await watchExplorer();

/** Names everything that the outputs are made from. */
function fingerprint() {
  const sources = [
    'package-lock.json',
    ...globSync(['.ci/*-pages.mjs', '.ci/explorer-config.mjs', `${source}/**/*.*`]),
  ];
  const digest = createHash('sha256');
  for (const file of sources.toSorted()) digest.update(file).update('\0').update(readFileSync(file)).update('\0');
  return digest.digest('hex');
}

function readStamp() {
  try {
    return readFileSync(stamp, 'utf8');
  } catch {
    return undefined;
  }
}

async function buildExplorer() {
  const vite = await import('vite');
  await vite.build(explorerConfig({ source, target: `${process.cwd()}/${target}` }));
  compressExplorer();
}

/** Builds again whenever a source of the explorer changes; `npm run dev` runs it. */
async function watchExplorer() {
  const vite = await import('vite');
  const config = explorerConfig({ source, target: `${process.cwd()}/${target}` });
  const done = {
    name: 'done',
    closeBundle() {
      compressExplorer();
      writeFileSync(stamp, fingerprint());
    },
  };
  await vite.build({ ...config, plugins: [...config.plugins, done], build: { ...config.build, watch: {} } });
}

function compressExplorer() {
  for (const file of globSync(`${target}/**/*.{html,js,css,ttf,svg}`)) compress(file);
}

/** The package gives its script away only through routes of its own. */
async function buildReference() {
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  const { fastify } = await import('fastify');
  const server = fastify();
  await server.register(scalar, { routePrefix: '/', configuration: { url: '/openapi.json' } });
  const { statusCode, rawPayload } = await server.inject('/js/scalar.js');
  await server.close();
  if (statusCode !== 200) throw new Error(`The package of the reference page has no script: ${statusCode}.`);
  mkdirSync(dirname(script), { recursive: true });
  writeFileSync(script, gzipSync(rawPayload, { level: 9 }));
}

function compress(file) {
  const content = readFileSync(file);
  if (content.length < 1024) return;
  writeFileSync(`${file}.br`, brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }));
  writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
}
