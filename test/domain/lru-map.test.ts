import { describe, expect, it } from '@jest/globals';

import { LruMap } from '../../src/platform/lru-map.ts';

describe('an LRU map', () => {
  it('keeps the last entries, and never more than twice as many', () => {
    const map = new LruMap<number, string>(5);
    for (let key = 0; key < 1000; key += 1) {
      map.set(key, String(key));
      const kept = Array.from({ length: key + 1 }, (_, each) => each).filter((each) => map.has(each));
      expect(kept.length).toBeLessThanOrEqual(10);
      expect(kept.slice(-5)).toEqual([key - 4, key - 3, key - 2, key - 1, key].filter((each) => each >= 0));
    }
  });

  it('loses none of so many entries, however they are asked for', () => {
    const map = new LruMap<number, string>(10);
    for (let key = 0; key < 10; key += 1) map.set(key, String(key));
    for (let step = 0; step < 1000; step += 1) {
      const key = (step * 7 + (step >> 3)) % 10;
      expect(map.get(key)).toBe(String(key));
    }
  });

  it('keeps what is asked for', () => {
    const map = new LruMap<number, string>(5);
    map.set(-1, 'used');
    for (let key = 0; key < 100; key += 1) {
      map.set(key, String(key));
      expect(map.get(-1)).toBe('used');
    }
    expect(map.get(0)).toBeUndefined();
  });

  it('has one value for a key, and none when it is deleted', () => {
    const map = new LruMap<number, string>(2);
    for (const key of [1, 2, 3]) map.set(key, 'first');
    map.set(1, 'second');
    expect(map.get(1)).toBe('second');
    for (const key of [1, 2, 3]) expect(map.delete(key)).toBe(true);
    expect(map.delete(1)).toBe(false);
    expect([1, 2, 3].filter((key) => map.has(key) || map.get(key) !== undefined)).toEqual([]);
  });

  it('goes by the weight of the keys, and keeps nothing that is too heavy', () => {
    const map = new LruMap<string, true>(50, (key) => key.length);
    map.set('light', true);
    map.set('x'.repeat(51), true);
    expect(map.has('x'.repeat(51))).toBe(false);
    expect(map.has('light')).toBe(true);
    const keys = Array.from({ length: 20 }, (_, index) => String(index).padEnd(25));
    for (const key of keys) map.set(key, true);
    expect(keys.filter((key) => map.has(key))).toEqual(keys.slice(-3));
  });
});
