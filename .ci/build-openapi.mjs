// Builds what the service reads of the OpenAPI document into the folder `built` of another one, unless it is there from
// the same files: node .ci/build-openapi.mjs src/rest/openapi
import { globSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { buildOnce, fingerprintOf } from './build-once.mjs';

const [target] = process.argv.slice(2);
const scripts = ['build-openapi', 'openapi', 'noun-operations', 'noun-schemas'].map((name) => `.ci/${name}.mjs`);
const sources = [
  'src/rest/openapi/*.yaml',
  'src/rest/domain-rules.ts',
  'src/http/error-codes.ts',
  'src/domain/**/*.ts',
].flatMap((each) => globSync(each));

await buildOnce(join(target, 'built'), fingerprintOf([...scripts, ...sources]), build);

async function build(folder) {
  const { operations, publishedDocument } = await import('./openapi.mjs');
  const { stringify } = await import('yaml');
  const published = await publishedDocument();
  const write = (name, text) => writeFileSync(join(folder, name), text);
  write('operations.json', JSON.stringify(await operations()));
  write('openapi.json', JSON.stringify(published));
  // For parsers that know neither merging nor references within a file, and lines as they are.
  write('openapi.yaml', stringify(published, { aliasDuplicateObjects: false, lineWidth: 0 }));
}
