// Builds what the service reads of the OpenAPI document into a folder: node .ci/build-openapi.mjs dist/src/rest/openapi
// Does nothing while it is there from the same files.
import { createHash } from 'node:crypto';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [target] = process.argv.slice(2);
const fingerprint = createHash('sha256');
for (const file of [
  '.ci/build-openapi.mjs',
  '.ci/openapi.mjs',
  '.ci/noun-operations.mjs',
  'src/domain/nouns.ts',
  ...globSync('src/rest/openapi/*.yaml').toSorted(),
]) {
  fingerprint.update(file).update('\0').update(readFileSync(file)).update('\0');
}
const builtFrom = fingerprint.digest('hex');
const stamp = join(target, 'built/from');

if (readStamp() !== builtFrom) {
  const { operations, publishedDocument } = await import('./openapi.mjs');
  const { stringify } = await import('yaml');
  const published = await publishedDocument();
  mkdirSync(join(target, 'built'), { recursive: true });
  write('operations.json', JSON.stringify(await operations()));
  write('openapi.json', JSON.stringify(published));
  // For parsers that know neither merging nor references within a file, and lines as they are.
  write('openapi.yaml', stringify(published, { aliasDuplicateObjects: false, lineWidth: 0 }));
  write('from', builtFrom);
}

function readStamp() {
  try {
    return readFileSync(stamp, 'utf8');
  } catch {
    return undefined;
  }
}

function write(name, text) {
  writeFileSync(join(target, 'built', name), text);
}
