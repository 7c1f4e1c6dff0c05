import { expect, it } from '@jest/globals';
import fc from 'fast-check';

import { toText } from '../../../src/platform/postgres/statement.ts';
import { openTestDatabase } from '../../support/opened-database.ts';

const opened = await openTestDatabase();

it('PostgreSQL reads a list of any texts as it was', async () => {
  const texts = fc.oneof(
    fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0')),
    fc.string({ unit: fc.constantFrom('"', '\\', '{', '}', ',', ' ', '\t', '\n', '\u007f', '\u2028', '😀', 'ä', '1') }),
    fc.constantFrom(null, 'NULL', ''),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(texts), async (list) => {
      expect(await opened.sql('select $1::text[] as list', [toText(list)])).toEqual([{ list }]);
    }),
  );
});
