import { expect, it } from '@jest/globals';
import { buildSchema, OverlappingFieldsCanBeMergedRule, parse, validate } from 'graphql';
import fc from 'fast-check';

import { countComparisons, withoutRepetitions } from '../../src/graphql/pipeline/checked-document.ts';

const schema = buildSchema('type Query { a: Query b: Query c: Int d: Int }');

/** How often the rule looks at a pair of fields: graphql-js asks each for its selection set. */
function comparisonsOf(text: string): number {
  const document = parse(text, { noLocation: true });
  let looks = 0;
  const watch = (node: object): void => {
    for (const child of Object.values(node)) {
      if (Array.isArray(child)) child.forEach((each: object) => watch(each));
      else if (typeof child === 'object' && child !== null) watch(child);
    }
    if ((node as { kind?: string }).kind !== 'Field') return;
    const { arguments: own } = node as { arguments?: unknown };
    Object.defineProperty(node, 'arguments', {
      get: () => {
        looks += 1;
        return own;
      },
    });
  };
  watch(document);
  validate(schema, document, [OverlappingFieldsCanBeMergedRule], { maxErrors: 5 });
  return looks / 2;
}

const name = fc.constantFrom('a', 'b');
const { selections } = fc.letrec<{ selections: string }>((tie) => ({
  selections: fc
    .array(
      fc.oneof(
        { depthSize: 'medium', withCrossShrink: true },
        fc.constantFrom('c', 'd', '...F', '...G'),
        fc.tuple(name, tie('selections')).map(([field, inner]) => `${field} { ${inner} }`),
        tie('selections').map((inner) => `... on Query { ${inner} }`),
      ),
      { minLength: 1, maxLength: 6 },
    )
    .map((all) => all.join(' ')),
}));

it('counts a fragment within itself as empty there, and still at least what graphql-js compares', () => {
  fc.assert(
    fc.property(selections, selections, selections, (query, f, g) => {
      const text = `{ ${query} } fragment F on Query { ${f} ...G } fragment G on Query { ${g} a { ...F } }`;
      expect(comparisonsOf(text)).toBeLessThanOrEqual(4 * countComparisons(parse(text), Infinity));
    }),
    { numRuns: 50 },
  );
});

it('counts at least what graphql-js compares', () => {
  const flat = fc
    .array(fc.constantFrom('c', 'd', 'a { c }', 'a { d b { c } }', 'b { c a { d } }'), { minLength: 1, maxLength: 6 })
    .map((all) => all.join(' '));
  fc.assert(
    fc.property(selections, flat, flat, (query, f, g) => {
      const text = `{ ${query} } fragment F on Query { ${f} ...G } fragment G on Query { ${g} }`;
      // Its own visits of a fragment at each place are memoized; a level within another is visited again.
      expect(comparisonsOf(text)).toBeLessThanOrEqual(4 * countComparisons(parse(text), Infinity));
    }),
    { numRuns: 50 },
  );
});

it('counts every two fields of a name, on every level', () => {
  const text = `{ ${'a { c }'.repeat(400)} }`;
  expect(countComparisons(parse(text), Infinity)).toBe(400 + 400 * (399 / 2) + 400 + 400 * (399 / 2));
  expect(comparisonsOf(text)).toBeLessThanOrEqual(countComparisons(parse(text), Infinity));
});

it('stops at the limit, also where fragments double each other', () => {
  const chain = Array.from(
    { length: 60 },
    (_, n) => `fragment F${n} on Query { a { ...F${n + 1} } b { ...F${n + 1} } }`,
  );
  const count = countComparisons(parse(`{ ...F0 } ${chain.join(' ')} fragment F60 on Query { c }`), 1_000);
  expect(count).toBeGreaterThanOrEqual(1_000);
  expect(count).toBeLessThan(2_000);
});

it('leaves out repetitions without a change of what is valid, and with no other message', () => {
  const field = fc.constantFrom('c', 'd', 'x: c', 'x: d', 'a { c }', 'a { x: c }', 'a { x: d }', 'a { c }', 'nope');
  fc.assert(
    fc.property(fc.array(field, { minLength: 1, maxLength: 12 }), (fields) => {
      const document = parse(`{ ${fields.join(' ')} }`);
      const messages = (each: typeof document): string[] =>
        [...new Set(validate(schema, each, undefined, { maxErrors: 1_000 }).map(({ message }) => message))].toSorted();
      const [all, some] = [messages(document), messages(withoutRepetitions(document))];
      expect(some.length > 0).toBe(all.length > 0);
      expect(all).toEqual(expect.arrayContaining(some));
    }),
  );
});
