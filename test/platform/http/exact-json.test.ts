import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { isExact, parseJson } from '../../../src/platform/http/exact-json.ts';
import { maxBodyBytes, maxJsonDepth, maxJsonValues } from '../../../src/platform/http/limits.ts';
import { threadMillis } from '../../support/measurement.ts';

/** A text, and how many values it has as it is written: beside itself those in it. */
interface Written {
  readonly text: string;
  readonly values: number;
}

const space = fc.constantFrom('', '', ' ', '\n\t', '\r\n ');
const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.constantFrom('0', '-0', '7', '123456789012345', '9007199254740993', '-1.50', '9e99', '1E+400', '1e5', '2.0'),
);
const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('[{"', ',,,', '\\"', '9e99', '}]', '__proto__'));

const { json } = fc.letrec<{ json: Written }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc
      .oneof(
        number,
        text.map((each) => JSON.stringify(each)),
        fc.constantFrom('true', 'null'),
      )
      .map(leaf),
    fc.tuple(space, fc.array(tie('json'))).map(([blank, items]) => within(`[${blank}`, items, `${blank}]`)),
    fc.tuple(space, fc.array(fc.tuple(text, space, tie('json')))).map(([blank, members]) =>
      within(
        `{${blank}`,
        members.map(([name, gap, { text: value, values }]) => ({
          text: `${JSON.stringify(name)}${gap}:${gap}${value}`,
          values,
        })),
        `${blank}}`,
      ),
    ),
  ),
}));

function leaf(written: string): Written {
  return { text: written, values: 0 };
}

function within(opening: string, parts: readonly Written[], closing: string): Written {
  return {
    text: opening + parts.map((part) => part.text).join(' , ') + closing,
    values: parts.reduce((sum, { values }) => sum + 1 + values, 0),
  };
}

/** Lists in which the text is, of so many values with it. */
function filledUp({ text: inner, values }: Written, upTo: number): string {
  return `[${inner}${',[]'.repeat(upTo - values - 1)}]`;
}

/** The strings and numbers of a JSON text. */
const tokens = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

const tooMany = 'more than 10,000 values';

describe('JSON of clients', () => {
  it('has the values that JSON.parse makes of it, and each number that is no exact integer as it is written', () => {
    fc.assert(
      fc.property(json, ({ text: written }) => {
        expect(parseJson(written, Number)).toEqual(JSON.parse(written));
        const marked = written.replaceAll(tokens, (token) =>
          token.startsWith('"') || isExact(token) ? token : `"#${token}"`,
        );
        expect(parseJson(written, (literal) => `#${literal}`)).toEqual(JSON.parse(marked));
      }),
    );
  });

  it.each(['1e-400', '-9E-999', '0.5e-330'])('does not take %s for the 0 that a double has for it', (literal) => {
    expect(parseJson(literal, (written) => `#${written}`)).toBe(`#${literal}`);
  });

  it('may have 10,000 values as they are written, and not one more, whatever they are', () => {
    fc.assert(
      fc.property(
        json.filter(({ values }) => values < 1_000),
        (written) => {
          const full = filledUp(written, maxJsonValues);
          expect(parseJson(full, Number)).toEqual(JSON.parse(full));
          expect(() => parseJson(filledUp(written, maxJsonValues + 1), Number)).toThrow(tooMany);
        },
      ),
    );
  });

  it('counts a member that is written twice twice', () => {
    const twice = (members: number): string => `{${Array<string>(members).fill('"a":{}').join(',')}}`;
    expect(parseJson(twice(maxJsonValues), Number)).toEqual({ a: {} });
    expect(() => parseJson(twice(maxJsonValues + 1), Number)).toThrow(tooMany);
  });

  it('may have 500 levels, open at a time and outside of strings, and not one more', () => {
    const nested = (levels: number): string => `${'[{"a":'.repeat(levels / 2)}"]}[{"${'}]'.repeat(levels / 2)}`;
    expect(parseJson(nested(maxJsonDepth), Number)).toEqual(JSON.parse(nested(maxJsonDepth)));
    expect(() => parseJson(`[${nested(maxJsonDepth)}]`, Number)).toThrow('more than 500 levels');
    expect(() => parseJson(`${'['.repeat(400_000)}1${']'.repeat(400_000)}`, Number)).toThrow('more than 500 levels');
  });

  it('takes the time of one pass, however many and huge its numbers are', () => {
    const bodies = {
      'as many short huge numbers as there is room for': `[${'9e99,'.repeat(maxBodyBytes / 5)}1]`,
      'long numbers': `[${'9007199254740993,'.repeat(maxBodyBytes / 17)}1]`,
      'empty objects': `[${'{},'.repeat(maxBodyBytes / 3)}{}]`,
      'one number': '9'.repeat(maxBodyBytes),
      'quotes in a string': JSON.stringify('\\"'.repeat(maxBodyBytes / 4)),
      'backslashes in a string': JSON.stringify('\\'.repeat(maxBodyBytes / 2)),
      'quotes alone': '"'.repeat(maxBodyBytes),
      'as many huge numbers as are allowed': `[${'9e99,'.repeat(maxJsonValues - 1)}1]`,
    };
    for (const [name, body] of Object.entries(bodies)) {
      const started = threadMillis();
      try {
        parseJson(body, (literal) => literal);
      } catch {
        // Most of them are refused.
      }
      expect({ name, isFast: threadMillis() - started < 150 }).toEqual({ name, isFast: true });
    }
  });
});
