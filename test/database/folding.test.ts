import { afterAll, beforeAll, expect, it } from '@jest/globals';

import { openTestDatabase, type OpenedDatabase } from '../support/opened-database.ts';

let opened: OpenedDatabase;
beforeAll(async () => {
  opened = await openTestDatabase();
});
afterAll(() => opened.close());

const surrogates = { first: 0xd800, last: 0xdfff };

/** By Unicode's simple mapping, with one sigma; the tables of this Node are the newest. */
function folded(character: string): string {
  if (character === 'İ') return 'i';
  return character.toLowerCase().replace('ς', 'σ');
}

/** The characters with case of Unicode 16 and 17: the servers that are tested have the tables of 14 or newer. */
const younger = [
  [0x1c89, 0x1c89],
  [0xa7cb, 0xa7ce],
  [0xa7d2, 0xa7d2],
  [0xa7d4, 0xa7d4],
  [0xa7da, 0xa7dc],
  [0x10d50, 0x10d65],
  [0x16ea0, 0x16eb8],
] as const;

const isYounger = (code: number): boolean => younger.some(([first, last]) => code >= first && code <= last);

it('every character of Unicode is folded alike on every server, but those that are younger than its tables', async () => {
  const rows = await opened.sql(
    `select code, petstore_fold(chr(code)) as folded from generate_series(1, 1114111) as code
     where code not between ${surrogates.first} and ${surrogates.last} and petstore_fold(chr(code)) <> chr(code)`,
  );
  const changed = new Map(rows.map(({ code, folded: text }) => [Number(code), String(text)]));
  const wrong: string[] = [];
  for (let code = 1; code <= 0x10ffff; code += 1) {
    if (code >= surrogates.first && code <= surrogates.last) continue;
    const character = String.fromCodePoint(code);
    const expected = folded(character);
    const got = changed.get(code) ?? character;
    // What a server does not know has no case there.
    const isYoung = got === character && isYounger(code);
    if (got !== expected && !isYoung) wrong.push(`U+${code.toString(16)}: ${got} instead of ${expected}`);
  }
  expect(wrong).toEqual([]);
});

it.each([
  ['İSTANBUL', 'istanbul'],
  ['ΣΊΣΥΦΟΣ', 'σίσυφος'],
  ['ΟΔΟΣ ΟΔΟΣ', 'οδος οδος'],
])('%s is folded as %s', async (one, other) => {
  const [row] = await opened.sql('select petstore_fold($1) = petstore_fold($2) as same', [one, other]);
  expect(row).toEqual({ same: true });
});
