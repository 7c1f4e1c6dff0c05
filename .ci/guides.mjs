// The guides of /docs: `guides.md`, with the lines that its `{{file region}}` name taken from the client programs in test/clients,
// where CI compiles and runs them.
import { existsSync, readFileSync } from 'node:fs';
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
  const guides = readFileSync(guidesSource, 'utf8')
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
  return { markdown, html: await marked.parse(`${info.description}\n\n${markdown}`), missing };
}

const include = /^\{\{(\S+) (\S+)\}\}$/gm;

function includesOf(guide) {
  return [...guide.matchAll(include)].map(([, file, region]) => ({ file, region }));
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
