// The guides of /docs: `guides.md`, with the lines that its `{{file region}}` name taken from the client programs in test/clients,
// where CI compiles and runs them.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { marked } from 'marked';

import { bundleContract } from './openapi.mjs';

const guidesSource = 'src/pages/reference/guides.md';
const clients = 'test/clients';

/**
 * The guides as Markdown, for Scalar, and the whole text of the page as HTML, for readers without JavaScript.
 * A guide whose lines aren't there is left out, and named in `missing`.
 */
export async function buildGuides() {
  const missing = [];
  const source = readFileSync(guidesSource, 'utf8');
  assertEveryRegionIsShown(source);
  const guides = source
    .split(/^(?=## )/m)
    .filter(
      (guide) =>
        !includesOf(guide).some(({ file, region }) => {
          const isMissing = linesOf(file, region) === undefined;
          if (isMissing) missing.push(`${file} ${region}`);
          return isMissing;
        }),
    )
    .map((guide) => guide.replaceAll(include, (_line, file, region) => `\`\`\`ts\n${linesOf(file, region)}\n\`\`\``));
  const markdown = guides.join('').trim();
  const { info } = await bundleContract();
  const html = await marked.parse(`${info.description}\n\n${markdown}`);
  return { markdown, html: html.replaceAll(listedCode, '<li id="$1"><code>$1</code>:'), missing };
}

/** A code of errors in the description: `/docs#not_found`, the type of a problem, leads there. */
const listedCode = /<li><code>([a-z_]+)<\/code>:/g;

const include = /^\{\{(\S+) (\S+)\}\}$/gm;

function includesOf(guide) {
  return [...guide.matchAll(include)].map(([, file, region]) => ({ file, region }));
}

/** Stops the build at lines that are marked for the guides, and that no guide shows. */
function assertEveryRegionIsShown(source) {
  const shown = new Set(includesOf(source).map(({ file, region }) => `${file} ${region}`));
  for (const file of globSync(['*.ts', '*/*.ts'], { cwd: clients }).filter((name) => !name.startsWith('generated/'))) {
    for (const [, region] of readFileSync(join(clients, file), 'utf8').matchAll(/^\/\/ guide:begin (\S+)$/gm)) {
      if (!shown.has(`${file} ${region}`)) throw new Error(`No guide shows ${file} ${region}.`);
    }
  }
}

/** What stands between `// guide:begin region` and the next `// guide:end`. */
function linesOf(file, region) {
  const path = join(clients, file);
  if (!existsSync(path)) return undefined;
  const lines = readFileSync(path, 'utf8').split('\n');
  const begin = lines.findIndex((line) => line.trim() === `// guide:begin ${region}`);
  if (begin === -1) return undefined;
  const end = lines.findIndex((line, index) => index > begin && line.trim() === '// guide:end');
  return lines.slice(begin + 1, end).join('\n');
}
