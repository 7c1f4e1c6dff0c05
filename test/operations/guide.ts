import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const repository = join(import.meta.dirname, '../..');

/** What a page says, and what is used on a machine of tests. */
export type Replacements = readonly (readonly [documented: string, used: string])[];

/**
 * A file of `.github/deploy/` with what differs on a machine of tests replaced; fails when one of the texts isn't in
 * it.
 */
export function deployFile(name: string, replacements: Replacements): string {
  return replaceIn(name, readFileSync(join(repository, '.github/deploy', name), 'utf8'), replacements);
}

/** Fails when one of the texts to be replaced isn't there. */
export function replaceIn(name: string, text: string, replacements: Replacements): string {
  let replaced = text;
  for (const [documented, used] of replacements) {
    if (!replaced.includes(documented)) throw new Error(`${name} has no ${JSON.stringify(documented)}.`);
    replaced = replaced.replaceAll(documented, used);
  }
  return replaced;
}

/** The SQL below a heading of the operations guide. */
export function guideSql(heading: string): string {
  const block = guideSection(heading).split('```sql\n')[1]?.split('\n```')[0];
  if (block === undefined) throw new Error(`The guide has no SQL below ${JSON.stringify(heading)}.`);
  return block;
}

/** The cells of each row of the first table below a heading of the operations guide. */
export function guideTable(heading: string): string[][] {
  const [, ...lines] = guideSection(heading).split('\n|---')[1]?.split('\n\n')[0]?.trimEnd().split('\n') ?? [];
  if (lines.length === 0) throw new Error(`The guide has no table below ${JSON.stringify(heading)}.`);
  return lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

function guideSection(heading: string): string {
  const guide = readFileSync(join(repository, '.github/OPERATIONS.md'), 'utf8');
  const section = guide.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0];
  if (section === undefined) throw new Error(`The guide has no ${JSON.stringify(heading)}.`);
  return section;
}
