import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const repository = join(import.meta.dirname, '../..');

/**
 * A file of `.github/deploy/` with what differs on a machine of tests replaced; fails when one of the texts isn't in
 * it.
 */
export function deployFile(name: string, replacements: readonly (readonly [string, string])[]): string {
  let text = readFileSync(join(repository, '.github/deploy', name), 'utf8');
  for (const [documented, used] of replacements) {
    if (!text.includes(documented)) throw new Error(`${name} has no ${JSON.stringify(documented)}.`);
    text = text.replaceAll(documented, used);
  }
  return text;
}

/**
 * The shell commands of a code block (the first, without a number) below a heading of the operations guide; continued
 * lines are joined.
 */
export function guideCommands(heading: string, number = 1): string[] {
  const lines = guideBlock(heading, 'sh', number)
    .replaceAll(/\\\n\s*/g, '')
    .split('\n');
  return lines
    .map((line) => line.replace(/\s+#\s.*$/, '').trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

/** The text of a code block of this language below a heading of the operations guide. */
export function guideBlock(heading: string, language: 'sh' | 'sql', number = 1): string {
  const block = guideSection(heading).split(`\`\`\`${language}\n`)[number]?.split('\n```')[0];
  if (block === undefined) throw new Error(`The guide has no ${language} below ${JSON.stringify(heading)}.`);
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
