import { createHash } from 'node:crypto';

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { generateKey, hashKey, parseKey, shownPrefix } from '../../../src/domain/access/api-key.ts';

describe('a key', () => {
  it('is recognised as the one that was made, and its hash is its SHA-256', () => {
    for (let count = 0; count < 1_000; count += 1) {
      const key = generateKey();
      expect(key).toMatch(/^petstore_[0-9A-Za-z]{49}$/);
      expect(parseKey(key)).toBe(createHash('sha256').update(key).digest('hex'));
      expect(hashKey(key)).toBe(parseKey(key));
    }
  });

  it('is never made twice, and every character of its random part varies', () => {
    const keys = Array.from({ length: 2_000 }, generateKey);
    expect(new Set(keys).size).toBe(keys.length);
    // Of the 43 digits the first one holds what is left of 256 bits.
    for (let index = 'petstore_'.length + 1; index < 'petstore_'.length + 43; index += 1) {
      expect(new Set(keys.map((key) => key.charAt(index))).size).toBeGreaterThan(50);
    }
  });

  it('is malformed when one character is another one, or two neighbours are swapped', () => {
    const key = generateKey();
    for (let at = 0; at < key.length; at += 1) {
      const [before, here, next, after] = [key.slice(0, at), key.charAt(at), key.charAt(at + 1), key.slice(at + 2)];
      for (const other of '0Az_-. ä'.replace(here, '')) expect(parseKey(before + other + next + after)).toBeUndefined();
      if (next !== '' && here !== next) expect(parseKey(before + next + here + after)).toBeUndefined();
    }
  });

  it('is malformed when it is any other text', () => {
    fc.assert(fc.property(fc.string(), (text) => expect(parseKey(text)).toBeUndefined()));
    const key = generateKey();
    for (const text of [`${key} `, ` ${key}`, `${key}\n`, key.slice(0, -1), key.slice(9), '']) {
      expect(parseKey(text)).toBeUndefined();
    }
  });

  it('shows no more than four of its random characters', () => {
    const key = generateKey();
    expect(shownPrefix(key)).toBe(key.slice(0, 'petstore_'.length + 4));
  });
});
