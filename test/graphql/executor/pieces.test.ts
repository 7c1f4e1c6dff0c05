import { expect, it } from '@jest/globals';
import fc from 'fast-check';

import { Pieces } from '../../../src/graphql/executor/pieces.ts';

/** Longer, and not much shorter, than what is kept as bytes. */
const long = (character: string): string => character.repeat(40_000);
const short = (character: string): string => character.repeat(30_000);

const character = fc.constantFrom('a', 'é', '€', '🐕', '"\\u0000"');
const text = fc.oneof(character, character.map(short), character.map(long), fc.constant(''));

it('has the texts, their lengths and their bytes, however they are nested, and no empty chunk', () => {
  fc.assert(
    fc.property(fc.array(fc.array(text, { maxLength: 4 }), { maxLength: 4 }), (lists) => {
      const pieces = new Pieces();
      const written = lists.map((texts) => pieces.kept(texts.map((each) => pieces.kept(each)).join(',')));
      const whole = lists.map((texts) => texts.join(',')).join(';');
      const marked = written.join(';');
      expect(pieces.wholeText(marked)).toBe(whole);
      expect(Buffer.concat(pieces.chunksOf(marked)).toString()).toBe(whole);
      expect(pieces.chunksOf(marked).every(({ length }) => length > 0)).toBe(true);
      expect([pieces.lengthOf(marked), pieces.bytesOf(marked)]).toEqual([whole.length, Buffer.byteLength(whole)]);
      for (const each of written) pieces.drop(each);
      expect(pieces.isEmpty).toBe(true);
    }),
    { numRuns: 50 },
  );
});

it('drops only its own pieces', () => {
  const pieces = new Pieces();
  const marks = [pieces.kept(long('a')), pieces.kept(long('b'))];
  for (const other of ['1', ',1,', '2', '']) pieces.drop(other);
  pieces.drop(marks[0]!);
  expect(pieces.wholeText(marks[1]!)).toBe(long('b'));
});

it('keeps nothing of short texts', () => {
  const pieces = new Pieces();
  expect(pieces.kept(short('a'))).toBe(short('a'));
  expect(pieces.isEmpty).toBe(true);
});
