import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { maxJsonDepth, parseJson, replaceNumbers } from '../../src/http/exact-json.ts';
import { threadMillis } from '../support/event-loop.ts';

describe('replacing numbers in JSON', () => {
  it('gives every literal as it is written, and leaves those that nothing replaces', () => {
    const seen: [literal: string, depth: number][] = [];
    const text = replaceNumbers('{"a":[1, -2.50,3e+4 ],"5":{"b":"6\\"7"},"c":8}', (literal, depth) => {
      seen.push([literal, depth]);
      return literal === '-2.50' ? '"x"' : undefined;
    });
    expect(seen).toEqual([
      ['1', 2],
      ['-2.50', 2],
      ['3e+4', 2],
      ['8', 1],
    ]);
    expect(text).toBe('{"a":[1, "x",3e+4 ],"5":{"b":"6\\"7"},"c":8}');
  });

  it('touches nothing but numbers, whatever the JSON is', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat({ max: 4 }), (value, indent) => {
        const json = JSON.stringify(value, undefined, indent);
        const replaced: unknown = JSON.parse(replaceNumbers(json, (literal) => `{"literal":"${literal}"}`));
        expect(restored(replaced)).toEqual(JSON.parse(json));
      }),
    );
  });

  it('takes the time of one pass for a body of long numbers, and for one of quotes and backslashes', () => {
    const length = 1024 * 1024;
    for (const json of [
      `[${Array.from({ length: length / 17 }, (_, index) => String(10n ** 15n + BigInt(index))).join(',')}]`,
      JSON.stringify('\\"'.repeat(length / 4)),
      JSON.stringify('\\'.repeat(length / 2)),
    ]) {
      const started = threadMillis();
      JSON.parse(replaceNumbers(json, (literal) => `"${literal}"`));
      expect(threadMillis() - started).toBeLessThan(500);
    }
  });
});

describe('parsing JSON of clients', () => {
  const nested = (levels: number): string => `${'[{"a":'.repeat(levels / 2)}"]}[{"${'}]'.repeat(levels / 2)}`;

  it('takes as many levels as the limit says, and refuses one more', () => {
    expect(parseJson(nested(maxJsonDepth))).toEqual(JSON.parse(nested(maxJsonDepth)));
    expect(() => parseJson(`[${nested(maxJsonDepth)}]`)).toThrow('more than 500 levels');
  });

  it('counts what is open at a time, and no brackets inside of strings', () => {
    for (const json of [`[${'[],'.repeat(10_000)}{}]`, JSON.stringify(`\\"${'['.repeat(10_000)}`)]) {
      expect(parseJson(json)).toEqual(JSON.parse(json));
    }
  });

  it('ends at the limit, however deep the rest is', () => {
    const json = `${'['.repeat(400_000)}12345678901234567890${']'.repeat(400_000)}`;
    const started = threadMillis();
    expect(() => parseJson(json)).toThrow('more than 500 levels');
    expect(threadMillis() - started).toBeLessThan(40);
  });
});

function restored(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(restored);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  const [only] = entries;
  if (entries.length === 1 && only?.[0] === 'literal') return Number(only[1]);
  return Object.fromEntries(entries.map(([name, each]) => [name, restored(each)]));
}
