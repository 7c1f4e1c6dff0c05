import { expect, it } from '@jest/globals';
import { assert, property, string } from 'fast-check';

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
