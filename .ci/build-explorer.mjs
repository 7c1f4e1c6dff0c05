// Builds the explorer, the page at /graphiql, into dist/explorer, unless it is there already from the same files.
import { createHash } from 'node:crypto';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const source = 'src/graphql/explorer';
const target = 'dist/explorer';
const stamp = `${target}/.built-from`;

const fingerprint = createHash('sha256');
for (const file of ['package-lock.json', '.ci/build-explorer.mjs', ...globSync(`${source}/**/*.*`).toSorted()]) {
  fingerprint.update(file).update('\0').update(readFileSync(file)).update('\0');
}
const builtFrom = fingerprint.digest('hex');

if (readStamp() !== builtFrom) {
  process.stderr.write('Building the explorer (a few seconds, and only when it has changed) … ');
  const started = performance.now();
  await build();
  writeFileSync(stamp, builtFrom);
  process.stderr.write(`${Math.round((performance.now() - started) / 1000)} s\n`);
}

function readStamp() {
  try {
    return readFileSync(stamp, 'utf8');
  } catch {
    return undefined;
  }
}

async function build() {
  const vite = await import('vite');
  await vite.build({
    configFile: false,
    root: source,
    // Relative addresses: the page is ./graphiql, what it loads is below ./graphiql/, and both may be below another path.
    base: './',
    logLevel: 'error',
    worker: { format: 'es' },
    build: {
      outDir: `${process.cwd()}/${target}`,
      emptyOutDir: true,
      assetsDir: 'graphiql',
      target: 'es2023',
      chunkSizeWarningLimit: 10_000,
    },
  });
  for (const file of globSync(`${target}/**/*.{html,js,css,ttf,svg}`)) compress(file);
}

function compress(file) {
  const content = readFileSync(file);
  if (content.length < 1024) return;
  writeFileSync(`${file}.br`, brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }));
  writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
}
