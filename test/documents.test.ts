import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { databaseVariables } from '../src/settings/database-variables.ts';

const root = join(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

const documents = [
  'README.md',
  'src/README.md',
  'src/RECIPES.md',
  'test/README.md',
  '.github/A-DAY.md',
  '.github/CHANGELOG.md',
  '.github/CONTRIBUTING.md',
  '.github/OPERATIONS.md',
  '.github/SECURITY.md',
];

interface Manifest {
  readonly version: string;
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const manifest = JSON.parse(read('package.json')) as Manifest;

/** The names in the first cells of the tables in a part of a document. */
function namesInTables(text: string): string[] {
  const cells = [...text.matchAll(/^\| (.+?) \|/gm)].map((row) => row[1]!);
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map((name) => name[1]!));
}

/** As GitHub makes them of headings. */
function anchorsOf(text: string): string[] {
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading.toLowerCase());
  return headings.map((heading) => heading.replaceAll(/[^\w -]/g, '').replaceAll(' ', '-'));
}

function section(document: string, heading: string): string {
  return read(document).split(`\n## ${heading}\n`)[1]!.split('\n## ')[0]!;
}

describe('the documents agree with the program', () => {
  test('the README lists every setting, and every variable of libpq that is read, and no other', () => {
    const names = read('src/settings/config.ts').match(/(?<=')[A-Z]+(?:_[A-Z]+)*(?=')/g) ?? [];
    const settings = new Set([...names, ...databaseVariables]);
    const documented = namesInTables(section('README.md', 'Configuration'));
    const levelsAndCodes = [...settings].filter((name) => /^E(?!VENTS_)[A-Z]/.test(name));
    for (const name of levelsAndCodes) settings.delete(name);
    expect(new Set(documented)).toEqual(settings);
  });

  test.each([
    ['src/rest/openapi/openapi.yaml', /^  version: (.+)$/gm],
    ['.github/deploy/Dockerfile', /(?:image\.version=|petstore-gateway:)(\S+)/g],
    ['.github/deploy/kubernetes.yml', /image: petstore-gateway:(.+)$/gm],
    ['.github/OPERATIONS.md', /petstore-gateway:(\S+)/g],
    ['.github/CHANGELOG.md', /^## (.+)$/gm],
  ])('%s has the version of package.json', (document, pattern) => {
    const [newest] = [...read(document).matchAll(pattern)].map(([, version]) => version);
    expect(newest).toBe(manifest.version);
  });

  test('CONTRIBUTING has the reason for every dependency, and for no other', () => {
    const used = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies });
    const documented = namesInTables(section('.github/CONTRIBUTING.md', 'Dependencies'));
    expect(documented.toSorted()).toEqual(used.toSorted());
  });

  test.each(documents)('%s links to files that exist, and names npm scripts that exist', (document) => {
    const text = read(document);
    const links = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)/g)].map((link) => link[1]!);
    expect(links.filter((link) => !existsSync(join(root, dirname(document), link)))).toEqual([]);
    const anchors = [...text.matchAll(/\]\(([\w./-]*\.md)?#([\w-]+)\)/g)].map(([, file = '', anchor = '']) => ({
      file: file === '' ? document : join(dirname(document), file),
      anchor,
    }));
    expect(anchors.filter(({ file, anchor }) => !anchorsOf(read(file)).includes(anchor))).toEqual([]);
    const scripts = [...text.matchAll(/npm run (?:-s )?([a-z][\w:-]*)/g)].map((command) => command[1]!);
    expect(scripts.filter((script) => !(script in manifest.scripts))).toEqual([]);
  });

  test.each([
    ['README.md', 2000],
    ['src/README.md', 2000],
    ['.github/A-DAY.md', 300],
  ])('%s stays short enough to be read: %i words', (document, words) => {
    expect(read(document).split(/\s+/).length).toBeLessThanOrEqual(words);
  });

  test("the changelog's part on 1.0.0 is a page: 900 words", () => {
    expect(section('.github/CHANGELOG.md', '1.0.0').split(/\s+/).length).toBeLessThanOrEqual(900);
  });
});
