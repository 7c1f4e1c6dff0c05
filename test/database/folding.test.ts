import { expect, it } from '@jest/globals';

import { openTestDatabase } from '../support/opened-database.ts';

const opened = await openTestDatabase();

const surrogates = { first: 0xd800, last: 0xdfff };

/** By Unicode's simple mapping, with one sigma; the tables of this Node are the newest. */
function folded(character: string): string {
  if (character === 'İ') return 'i';
  return character.toLowerCase().replace('ς', 'σ');
}

/** The characters with case of the versions of Unicode after 10, which is older than any server that is tested. */
const cased: Readonly<Record<number, readonly (readonly [first: number, last?: number])[]>> = {
  11: [[0x1c90, 0x1cba], [0x1cbd, 0x1cbf], [0xa7b8], [0x16e40, 0x16e5f]],
  12: [[0xa7ba], [0xa7bc], [0xa7be], [0xa7c2], [0xa7c4, 0xa7c6]],
  13: [[0xa7c7], [0xa7c9], [0xa7f5]],
  14: [[0x2c2f], [0xa7c0], [0xa7d0], [0xa7d6], [0xa7d8], [0x10570, 0x10595]],
  16: [[0x1c89], [0xa7cb, 0xa7cc], [0xa7da], [0xa7dc], [0x10d50, 0x10d65]],
  17: [[0xa7ce], [0xa7d2], [0xa7d4], [0x16ea0, 0x16eb8]],
};

const versions = new Map(
  Object.entries(cased).flatMap(([version, ranges]) =>
    ranges.flatMap(([first, last = first]) =>
      Array.from({ length: last - first + 1 }, (_, index) => [first + index, Number(version)] as const),
    ),
  ),
);

it('every character of Unicode is folded alike on every server, but those that are younger than its tables', async () => {
  const rows = await opened.sql(
    `select code, petstore_fold(chr(code)) as folded from generate_series(1, 1114111) as code
     where code not between ${surrogates.first} and ${surrogates.last} and petstore_fold(chr(code)) <> chr(code)`,
  );
  const changed = new Map(rows.map(({ code, folded: text }) => [Number(code), String(text)]));
  const serverVersion = Math.max(10, ...[...changed.keys()].map((code) => versions.get(code) ?? 0));
  const wrong: string[] = [];
  for (let code = 1; code <= 0x10ffff; code += 1) {
    if (code >= surrogates.first && code <= surrogates.last) continue;
    const character = String.fromCodePoint(code);
    // What a server does not know has no case there.
    const isYounger = (versions.get(code) ?? 0) > serverVersion;
    const expected = isYounger ? character : folded(character);
    const got = changed.get(code) ?? character;
    if (got !== expected) wrong.push(`U+${code.toString(16)}: ${got} instead of ${expected}`);
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
