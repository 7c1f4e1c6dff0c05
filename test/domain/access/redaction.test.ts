import { expect, it } from '@jest/globals';
import { assert, property, string } from 'fast-check';

import { generateKey, shownPrefix } from '../../../src/domain/access/api-key.ts';
import { alsoRedact, redactSecrets } from '../../../src/domain/access/redaction.ts';

const secret = 'a-secret-of-the-tests-"with"-33-characters';
alsoRedact(secret);

it('cuts the secret wherever it is, and nothing else', () => {
  assert(
    property(string({ unit: 'grapheme' }), string(), (before, after) => {
      expect(redactSecrets(`${before}${secret}${after}${secret}`)).toBe(`${before}…${after}…`);
      expect(redactSecrets(`${before}.${secret.slice(1)}${after}`)).toBe(`${before}.${secret.slice(1)}${after}`);
    }),
  );
});

it('cuts the secret in a string of JSON', () => {
  expect(redactSecrets(JSON.stringify({ path: `/pets/${secret}` }))).toBe('{"path":"/pets/…"}');
});

it('cuts a key wherever it is', () => {
  const [first, second] = [generateKey(), generateKey()];
  const [firstShown, secondShown] = [`${shownPrefix(first)}…`, `${shownPrefix(second)}…`];
  expect(redactSecrets(`/pets/${first}/x${second}y`)).toBe(`/pets/${firstShown}/x${secondShown}y`);
  // Neither of them can hide the other.
  expect(redactSecrets(`petstore_${'a'.repeat(41)}${first}`)).toBe(`petstore_${'a'.repeat(41)}${firstShown}`);
  expect(redactSecrets(first + second)).toBe(firstShown + secondShown);
});

it('keeps what only looks like a key', () => {
  for (const text of ['', 'petstore_', `petstore_${'a'.repeat(49)}`, generateKey().slice(0, -1)]) {
    expect(redactSecrets(text)).toBe(text);
  }
});
