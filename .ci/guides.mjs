// The guides: Markdown, with the lines that its `{{file region}}` name taken from the client programs in test/clients,
// where CI compiles and runs them, each guide with the imports of its lines before them, and its packages with the
// versions that they run with.
import { execFile } from 'node:child_process';
import { cpSync, existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { promisify } from 'node:util';

import { marked } from 'marked';

import { planNames } from '../src/domain/access/plan.ts';
import { graphqlCodes, listOfCodes } from '../src/http/error-codes.ts';
import { capitalized } from './noun-schemas.mjs';
import { bundleContract } from './openapi.mjs';
import { withPictures } from './pictures.mjs';

const rest = 'src/pages/reference/guides.md';
const graphql = 'src/pages/guides';
const clients = 'test/clients';

/** Values that the programs have from their test, as a reader writes them. */
const settings = {
  serviceUrl: "const serviceUrl = 'http://127.0.0.1:4000';",
  apiKey: "const apiKey = process.env['KEY'] ?? '';",
};

/** The guides of REST, as Markdown for Scalar and as HTML with the document's own description. */
export async function buildRestGuides() {
  assertEveryRegionIsShown();
  const markdown = restGuides();
  const { info } = await bundleContract();
  return { markdown, html: withAnchors(await marked.parse(`${info.description}\n\n${markdown}`)) };
}

/** Has VitePress build the guides of GraphQL into the folder `graphql` of this one. */
export async function buildGraphQLGuides(folder) {
  const program = 'node_modules/vitepress/bin/vitepress.js';
  if (!existsSync(program)) throw new Error('The packages are older than package-lock.json: run `npm ci`.');
  // With its configuration, beside which VitePress keeps files while it builds.
  const site = `${folder}/site`;
  cpSync(`${graphql}/.vitepress`, `${site}/.vitepress`, { recursive: true });
  for (const [name, text] of graphqlGuides()) writeFileSync(`${site}/${name}.md`, withPictures(forVitePress(text)));
  // A process of its own: it writes to standard output, and the explorer is built meanwhile.
  await promisify(execFile)(process.execPath, [program, 'build', site]);
  rmSync(site, { recursive: true });
}

/** As `guides.md` has them, one below the other. */
export function restGuides() {
  return guidesIn(readFileSync(rest, 'utf8')).map(expand).join('').trim();
}

/** The text of each page by its name. */
export function graphqlGuides() {
  const names = globSync('*.md', { cwd: graphql }).map((file) => basename(file, '.md'));
  return new Map(names.toSorted().map((name) => [name, expand(readFileSync(`${graphql}/${name}.md`, 'utf8'))]));
}

/** Each with its heading. */
export function guidesIn(markdown) {
  return markdown.split(/^(?=## )/m);
}

function expand(guide) {
  return inOneBlock(withVersions(withSettings(withCode(withParts(guide)))));
}

/** Code that goes on in the next block, with nothing between, is copied at once. */
function inOneBlock(guide) {
  return guide.replaceAll(/^```\n\n```tsx?\n(?!\/\/ [\w.-]+\.ts\n)/gm, '\n');
}

/** Each code of errors has an anchor, as the type of a problem names it, and each guide one by its name. */
function withAnchors(html) {
  return html
    .replaceAll(/<li><code>([A-Za-z_]+)<\/code>:/g, '<li id="$1"><code>$1</code>:')
    .replaceAll(/<h2>([^<]+)<\/h2>/g, (_all, title) => `<h2 id="${slugOf(title)}">${title}</h2>`);
}

function slugOf(title) {
  return title.replace('Guide: ', '').toLowerCase().replaceAll(/\W+/g, '-');
}

/** The same for VitePress; and pages that aren't its own have a whole address, which the service replaces. */
function forVitePress(markdown) {
  return markdown
    .replaceAll(/^- `([A-Z_]+)`: .*$/gm, '$& {#$1}')
    .replaceAll(/\]\((?=\/(?!docs\/graphql))/g, '](http://127.0.0.1:4000')
    .replaceAll(/\]\(\/docs\/graphql/g, '](.');
}

/** What a guide has from elsewhere, by the name that stands in its place, such as `{{limits}}`. */
const parts = {
  limits: () => readFileSync('src/pages/reference/limits.md', 'utf8').replace('{{plans}}', planRows).trim(),
  cors: () => readFileSync('src/pages/reference/cors.md', 'utf8').trim(),
  codes: () => listOfCodes(graphqlCodes),
  deprecations: () => deprecations,
  changelog: changesForClients,
};

function withParts(guide) {
  return guide.replaceAll(/^\{\{(\w+)\}\}$/gm, (place, name) => parts[name]?.() ?? place);
}

/** The service writes its figures into the places. */
function planRows() {
  const rowOf = (plan) => `| ${capitalized(plan)} | %${plan}Minute% | %${plan}Day% | %${plan}Streams% |`;
  return planNames.map(rowOf).join('\n');
}

const deprecations = tableOf(await deprecatedOperations());

/** The operations of REST; the schema of GraphQL has nothing deprecated, and says so itself where it has. */
async function deprecatedOperations() {
  const { paths } = await bundleContract();
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, { deprecated, ...operation }]) =>
      deprecated !== true
        ? []
        : [
            {
              operation: `\`${method.toUpperCase()} ${path}\``,
              since: operation['x-deprecated-since'],
              sunset: operation['x-deprecated-sunset'],
              successor: `\`${method.toUpperCase()} ${operation['x-deprecated-successor']}\``,
            },
          ],
    ),
  );
}

function tableOf(rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const names = Object.keys(rows[0] ?? {});
  return [line(names), line(names.map(() => '---')), ...rows.map((row) => line(Object.values(row)))].join('\n');
}

const notForClients = /^For (?:operators|contributors)/;

/** The versions of the changelog, without what only operators and contributors notice, and without links to their pages. */
function changesForClients() {
  const [, ...versions] = readFileSync('.github/CHANGELOG.md', 'utf8').split(/^## /m);
  const sections = versions.flatMap((version) => {
    const [heading, ...parts] = version.split(/^### /m);
    const kept = parts.filter((part) => !notForClients.test(part));
    return [`## Version ${heading}`, ...kept.map((part) => `### ${part}`)];
  });
  return sections
    .join('')
    .replaceAll(/\[([^\]]+)\]\((?!\/|https:)[^)]+\)/g, '$1')
    .trim();
}

const include = /^\{\{(\S+) (\S+)\}\}$/gm;

function includesOf(guide) {
  return [...guide.matchAll(include)].map(([, file, region]) => ({ file, region }));
}

/** The guide with its lines of code; before the first ones stand the imports of all. */
function withCode(guide) {
  const includes = includesOf(guide);
  const own = [...guide.matchAll(/^```tsx?\n(.*?)^```$/gms)].map(([, code]) => code).join('\n');
  const shownImports = new Set();
  return guide.replaceAll(include, (_line, file, region) => {
    const name = nameOf(file);
    const imports = shownImports.has(name)
      ? ''
      : importsOf(
          includes.filter((each) => nameOf(each.file) === name),
          own,
        );
    shownImports.add(name);
    const parts = [imports, linesOf(file, region)].filter(Boolean);
    // Lines of another file than the program say so.
    const blocks = name === 'program.ts' ? parts : [[`// ${name}`, parts.join('\n\n')].join('\n')];
    const language = extname(file).slice(1);
    return blocks.map((code) => `\`\`\`${language}\n${code}\n\`\`\``).join('\n\n');
  });
}

/** `{{tsconfig}}` is the file with the compiler's settings. */
function withSettings(guide) {
  return guide.replaceAll(/^\{\{tsconfig\}\}$/gm, () => {
    const text = readFileSync(join(clients, 'guides.tsconfig.json'), 'utf8');
    return `\`tsconfig.json\`:\n\n\`\`\`json\n${text}\`\`\``;
  });
}

/** Names the version of each package that the programs have; npm chooses that of any other. */
function withVersions(guide) {
  const [own, ours] = [clients, '.'].map((folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')));
  const versions = { ...ours.devDependencies, ...own.devDependencies };
  return guide.replaceAll(/^npm install .*$/gm, (line) =>
    line.replaceAll(/(?<= )(?!-)\S+/g, (name) => {
      const version = /^[\d.]+$/.exec(versions[name] ?? '')?.[0];
      return version === undefined || name.startsWith('@types/') ? name : `${name}@${version}`;
    }),
  );
}

/** Files of the reader's that programs import. */
const ownFiles = ['documents.ts', 'codegen.ts', 'retrying-fetch.ts'];

/** The file into which a reader pastes lines of this one. */
function nameOf(file) {
  const name = basename(file);
  return ownFiles.includes(name) ? name : 'program.ts';
}

const importStatement = /^import (?:type )?(?:(\w+)(?:, )?)?(?:\{([^}]*)\})? ?from '([^']+)';$/gm;

/**
 * The imports that these lines, and the guide's own, need, from packages first; what a region declares isn't imported.
 */
function importsOf(includes, own) {
  const code = includes.map(({ file, region }) => linesOf(file, region)).join('\n');
  const imports = new Map();
  const constants = new Set();
  for (const file of new Set(includes.map((each) => each.file))) {
    const lines = includes.filter((each) => each.file === file).map(({ region }) => linesOf(file, region));
    const used = [...lines, own].join('\n');
    const isUsed = (binding) => new RegExp(`\\b${binding.split(' ').at(-1)}\\b`).test(used);
    for (const [statement, whole, named = '', from] of readFileSync(join(clients, file), 'utf8').matchAll(
      importStatement,
    )) {
      if (used.includes(statement)) continue;
      const isTypeOnly = statement.startsWith('import type ');
      const names = named
        .split(',')
        .map((each) => each.trim())
        .filter((each) => each !== '' && isUsed(each));
      const main = whole !== undefined && isUsed(whole) ? whole : undefined;
      if (names.length === 0 && main === undefined) continue;
      if (from.endsWith('/shared/service.ts'))
        for (const each of names) constants.add(settings[each] ?? fail(file, each));
      else if (ownFiles.includes(basename(from)))
        addImport(imports, `./${basename(from)}`, { main, names, isTypeOnly });
      else if (/(?:^\.|\/shared)\/[\w-]+\.ts$/.test(from))
        names.forEach((each) => declares(code, each) || fail(file, each));
      else addImport(imports, from.replace(/^\.\.\//, './'), { main, names, isTypeOnly });
    }
  }
  const statements = [...imports].map(([from, { main, names, isTypeOnly }]) => {
    const list = names.size === 0 ? '' : `{ ${[...names].join(', ')} }`;
    return `import ${isTypeOnly ? 'type ' : ''}${[main, list].filter(Boolean).join(', ')} from '${from}';`;
  });
  return [...statements, ...(constants.size > 0 ? [''] : []), ...constants].join('\n').trim();
}

function addImport(imports, from, { main, names, isTypeOnly }) {
  const known = imports.get(from) ?? { main, names: new Set(), isTypeOnly };
  for (const name of names) known.names.add(name);
  imports.set(from, known);
}

function declares(code, name) {
  return new RegExp(`(?:function|class|interface) ${name.replace(/^type /, '')}\\b`).test(code);
}

function fail(file, name) {
  throw new Error(`A guide with lines of ${file} lacks ${name}.`);
}

/** Stops the build at lines that are marked for the guides, and that no guide shows. */
function assertEveryRegionIsShown() {
  const sources = [rest, ...globSync(`${graphql}/*.md`)].map((file) => readFileSync(file, 'utf8'));
  const shown = new Set(sources.flatMap(includesOf).map(({ file, region }) => `${file} ${region}`));
  for (const file of globSync(['*.ts', '*/*.{ts,tsx}'], { cwd: clients })) {
    for (const [, region] of readFileSync(join(clients, file), 'utf8').matchAll(/^\/\/ guide:begin (\S+)$/gm)) {
      if (!shown.has(`${file} ${region}`)) throw new Error(`No guide shows ${file} ${region}.`);
    }
  }
}

/** The lines between `// guide:begin region` and the next `// guide:end`, without what is for the linter. */
function linesOf(file, region) {
  const lines = readFileSync(join(clients, file), 'utf8').split('\n');
  const begin = lines.findIndex((line) => line.trim() === `// guide:begin ${region}`);
  if (begin === -1) throw new Error(`${file} has no lines for the guides that are called ${region}.`);
  const end = lines.findIndex((line, index) => index > begin && line.trim() === '// guide:end');
  return lines
    .slice(begin + 1, end)
    .filter((line) => !line.startsWith('// oxlint-'))
    .join('\n');
}
