import { expect, it } from '@jest/globals';
import fc from 'fast-check';

import { trigramTests } from '../../../src/database/sql/trigrams.ts';
import { openTestDatabase } from '../../support/opened-database.ts';

const opened = await openTestDatabase();
await opened.sql(`create table searched (name text collate "C");
  insert into searched select concat(n % 7, ' Max-Alpha', n, ' bella Rex') from generate_series(1, 500) n;
  insert into searched select concat('Alpha max', ' belxellxlla', n) from generate_series(1, 500) n;
  create index on searched using gin (petstore_fold(name) gin_trgm_ops)`);

const characters = fc.constantFrom(...Array.from('aabBxX79 -_%[\\ıİſKßéΣςжЖ🐕'));
const texts = (minLength: number) => fc.string({ unit: characters, minLength, maxLength: 12 });

it('every name that contains a text meets what the index looks for', () =>
  fc.assert(
    fc.asyncProperty(texts(0), texts(3), texts(0), async (before, text, after) => {
      const tests = trigramTests(text)?.tests ?? [];
      const met = tests.map(({ operator }, each) => `petstore_fold($1) ${operator} petstore_fold($${each + 2})`);
      const values = [before + text + after, ...tests.map(({ pattern }) => pattern)];
      const [row] = await opened.sql(`select $1::text <> '' and ${['true', ...met].join(' and ')} as "isMet"`, values);
      expect(row).toEqual({ isMet: true });
    }),
    { numRuns: 300, seed: 78 },
  ));

it.each(['max alpha', 'alpha max', 'alpha bella', 'bellalla', 'rex max', 'max 7', 'alpha bella alpha rex'])(
  'the index finds no row that does not meet it: %s',
  async (text) => {
    const tests = trigramTests(text)!.tests.map(
      ({ operator, pattern }) => `petstore_fold(name) ${operator} '${pattern}'`,
    );
    const plan = JSON.stringify(
      await opened.sql(
        `set enable_seqscan = off; explain (analyze, format json) select from searched where ${tests.join(' and ')}`,
      ),
    );
    expect(plan).toMatch(/Bitmap Index Scan/);
    expect(plan).not.toMatch(/Rows Removed by (?:Index Recheck|Filter)":[1-9]/);
  },
);
