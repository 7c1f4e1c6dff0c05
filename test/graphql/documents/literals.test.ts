import { mock } from 'node:test';

import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { buildSchema, parse, type OperationDefinitionNode } from 'graphql';

import { LiftedOperations } from '../../../src/graphql/pipeline/literals.ts';
import type { KnownOperation } from '../../../src/graphql/pipeline/documents.ts';
import { Measures } from '../../../src/graphql/pipeline/measures.ts';
import { DeclaredVariables } from '../../../src/graphql/pipeline/variables.ts';
import { PreparedOperation } from '../../../src/platform/executor/index.ts';
import { startSampleServer } from '../sample-server.ts';

/** One knows the documents of one form; the other one validates each. */
const lifting = await startSampleServer();
const validating = await startSampleServer();
const accepted = { accept: 'application/graphql-response+json' };

/** Whatever the grammar has places for values in. */
const forms: readonly ((value: string) => string)[] = [
  (value) => `{ echo(id: ${value}) }`,
  (value) => `{ echo(text: ${value}) a: total(number: 4) }`,
  (value) => `{ echo(id: ${value}) b: echo(id: 5) }`,
  (value) => `{ a: echo(id: ${value}) ...F } fragment F on Query { a: echo(id: "7") }`,
  (value) => `{ total(number: ${value}) fail(how: CONFLICT) }`,
  (value) => `{ pets(first: ${value}) { totalCount nodes { id } } }`,
  (value) => `{ pets(filter: { nameContains: ${value} }) { totalCount } }`,
  (value) => `{ pets(filter: { bornFrom: ${value}, statusIn: [SOLD] }) { totalCount } }`,
  (value) => `{ nodes(nodeIds: [${value}, "2"]) { id } }`,
  (value) => `{ nodes(nodeIds: ${value}) { id } }`,
  (value) => `mutation { createPet(input: { name: ${value}, age: 5 }) { pet { name motherId } } }`,
  (value) => `mutation { createPet(input: { name: "Rex", age: ${value}, born: "2026-11-28" }) { pet { name } } }`,
  (value) => `mutation { createPet(input: { name: "Rex", born: ${value} }) { pet { name } } fail(how: NOT_FOUND) }`,
  (value) => `query ($n: Int = ${value}) { total(number: $n) }`,
  (value) => `query Q($id: ID = "9") { echo(id: ${value}) b: echo(id: $id) fail(how: CONFLICT) }`,
  (value) => `{ echo(id: "1") @include(if: true) wrong: discarded(text: ${value}) { strict } }`,
  (value) => `{ echo(id: ${value}) # ${value}\n  fail(how: NOT_FOUND) }`,
  (value) => `{ pet(id: ${value}) { id, name } __type(name: "Pet") { name } }`,
  (value) => `{ a: echo(text: ${value}), a: echo(text: "same") }`,
];

const literal = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: -20, max: 200 }).map(String) },
  { weight: 4, arbitrary: fc.string({ maxLength: 8 }).map((text) => JSON.stringify(text)) },
  fc.constantFrom('9007199254740993', '99999999999999999999', '2147483648', '-0', '007', '1.5', '1e3', '1a', '""'),
  fc.constantFrom(
    '"same"',
    '"2026-11-28"',
    '"2026-13-01"',
    '"""block"""',
    '"\\u0041"',
    '"\u00e9"',
    '"\u{1f600}"',
    '"open',
  ),
  fc.constantFrom('null', 'true', 'SOLD', '[1]', '["a", "b"]', '{ a: 1 }', '$id', '"a" # "b"\n'),
);

/** What a client sees, but for the id of the request. */
async function outcome(server: typeof lifting, query: string): Promise<unknown> {
  const { statusCode, body, headers } = await server.post({ query }, accepted);
  const shown = ['content-type', 'x-graphql-complexity', 'x-ratelimit-cost', 'retry-after'].map(
    (name) => headers[name],
  );
  return [query, statusCode, body, shown];
}

function operationOf(text: string): KnownOperation {
  const document = parse(text);
  const schema = buildSchema('type Query { echo(id: ID): String }');
  const source = { schema, document, operation: document.definitions[0] as OperationDefinitionNode };
  const prepared = new PreparedOperation(source);
  const [measures, variables] = [new Measures(source), new DeclaredVariables(source)];
  return { source, prepared, measures, variables, isAtomic: false, deprecated: [], fieldCount: 1, bytes: 1 };
}

describe('a document with its values in the text', () => {
  it('has the result, errors, complexity and cost of one that is validated, whichever values those before it had', async () => {
    const find = mock.method(LiftedOperations.prototype, 'find');
    const isLifted = () => find.mock.calls.filter(({ result }) => result !== undefined).length;
    let lifted = 0;
    const samples = fc.tuple(fc.constantFrom(...forms), fc.array(literal, { minLength: 5, maxLength: 8 }));
    await fc.assert(
      fc.asyncProperty(samples, async ([form, values]) => {
        for (const value of values) {
          const query = form(value);
          find.mock.resetCalls();
          const seen = await outcome(lifting, query);
          lifted += isLifted();
          find.mock.mockImplementationOnce(() => undefined);
          expect(seen).toEqual(await outcome(validating, query));
        }
      }),
      { numRuns: 100, seed: 85 },
    );
    find.mock.restore();
    expect(lifted).toBeGreaterThan(100);
  });

  it('is another operation where values that were equal are not', async () => {
    const query = (one: string, other: string): object => ({
      query: `{ a: echo(text: "${one}") a: echo(text: "${other}") }`,
    });
    for (const text of ['x', 'y', 'z', 'v'])
      expect((await lifting.post(query(text, text))).json()).toEqual({ data: { a: text } });
    const refused = await lifting.post(query('x', 'y'));
    expect([refused.statusCode, refused.json().errors[0].message]).toEqual([400, expect.stringMatching(/conflict/)]);
  });

  it('is looked up in bounded memory, whatever is sent: other names, other values, or both', () => {
    const lifted = new LiftedOperations();
    const operation = operationOf('{ echo(id: "1") }');
    const send = (text: string) => {
      lifted.find(text, undefined);
      lifted.add(text, undefined, operation);
    };
    for (let n = 0; n < 3; n += 1) send(`{ echo(id: "${n}") }`);
    for (let n = 0; n < 30_000; n += 1) {
      send(`{ a${n}: echo(id: "1") }`);
      send(`{ echo(id: "${n}") }`);
      send(`{ b${n}: echo(id: "${n}") }`);
    }
    expect(lifted.find('{ echo(id: "new") }', undefined)?.values).toEqual({ ':0': 'new' });
    expect(lifted.find('{ a1: echo(id: "1") }', undefined)).toBeUndefined();
  });
});
