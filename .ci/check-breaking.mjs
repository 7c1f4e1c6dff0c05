// Names what of the GraphQL schema and the OpenAPI document would break a client of the last release and isn't in the
// changelog: node .ci/check-breaking.mjs [FOLDER], which has the documents of another release.
// With --release it takes the documents of today as those of the last release.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { breakingChanges, newerSections, unannounced } from './breaking-changes.mjs';
import { publishedDocument } from './openapi.mjs';

const { values, positionals } = parseArgs({ options: { release: { type: 'boolean' } }, allowPositionals: true });
const [folder = '.ci/released'] = positionals;
const files = { schema: `${folder}/schema.graphql`, document: `${folder}/openapi.json` };
const read = (file) => readFileSync(file, 'utf8');
const now = { schema: read('schema.graphql'), document: JSON.parse(JSON.stringify(await publishedDocument())) };

if (values.release) release();
else check();

function check() {
  const before = { schema: read(files.schema), document: JSON.parse(read(files.document)) };
  const { version } = before.document.info;
  const changelog = read('.github/CHANGELOG.md');
  const changes = unannounced(breakingChanges(before, now), changelog, version);
  if (newerSections(changelog, version).length > 1)
    fail(`${folder} has the documents of ${version}, and the changelog two later versions: run
\`npm run release-documents\` at the tag of the last release.`);
  if (changes.length > 0)
    fail(`This would break clients of ${version}:
${changes.map((change) => `  ${change}`).join('\n')}
If it has to be, say so in these words in .github/CHANGELOG.md, in a section above ${version}. While ${version} isn't
out, take its documents anew: \`npm run release-documents\`.`);
}

function fail(message) {
  console.error(message);
  process.exitCode = 1;
}

/** Without what no client is broken by: words, samples, marks for the page. */
function release() {
  const isWords = (key, value) =>
    (key === 'description' && typeof value === 'string') ||
    (key === 'tags' && Array.isArray(value)) ||
    /^x-[a-z]/.test(key);
  const document = JSON.stringify(now.document, (key, value) => (isWords(key, value) ? undefined : value), 1);
  mkdirSync(folder, { recursive: true });
  writeFileSync(files.schema, now.schema);
  writeFileSync(files.document, `${document}\n`);
}
