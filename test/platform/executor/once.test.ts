import { expect, it } from '@jest/globals';
import {
  GraphQLInt,
  GraphQLList,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLSchema,
  GraphQLString,
  parse,
  type OperationDefinitionNode,
} from 'graphql';

import { PreparedOperation } from '../../../src/platform/executor/index.ts';

const made: Record<string, number> = {};

function count<Value>(name: string, value: Value): Value {
  made[name] = (made[name] ?? 0) + 1;
  return value;
}

interface Row {
  readonly number: number;
  readonly at: Date;
}

const dateType = new GraphQLScalarType<string, string>({
  name: 'Instant',
  serialize: (value) => count('instant', (value as Date).toISOString()),
});

const rowType: GraphQLObjectType = new GraphQLObjectType<Row>({
  name: 'Row',
  fields: () => ({
    at: { type: dateType },
    version: {
      type: GraphQLString,
      resolve: ({ number }) => count('version', `v${number}`),
      extensions: { computed: true },
    },
    nothing: { type: GraphQLString, resolve: () => count('nothing', null), extensions: { computed: true } },
    times: {
      type: GraphQLString,
      args: { by: { type: GraphQLInt } },
      resolve: ({ number }, { by }: { by?: number }) => count('times', String(number * (by ?? 1))),
      extensions: { computed: true },
    },
    broken: {
      type: GraphQLString,
      resolve: ({ number }) => {
        throw count('broken', new Error(`broken ${number}`));
      },
      extensions: { computed: true },
    },
    copy: { type: rowType, resolve: (row) => count('copy', { ...row }), extensions: { computed: true } },
  }),
});

const rows: readonly Row[] = [1, 2].map((number) => ({ number, at: new Date(number) }));

const schema = new GraphQLSchema({
  query: new GraphQLObjectType({
    name: 'Query',
    // The same objects at several places.
    fields: { rows: { type: new GraphQLList(rowType), resolve: () => [rows[0], rows[1], rows[0]] } },
  }),
});

async function run(text: string, steps: number): Promise<{ data: unknown; failures: string[] }> {
  for (const name of Object.keys(made)) delete made[name];
  const document = parse(text);
  const [operation] = document.definitions as [OperationDefinitionNode];
  const turns = { steps, turn: () => Promise.resolve() };
  const options = { context: undefined, variables: {}, maxBytes: 2 ** 20, turns };
  const { data, errors } = await new PreparedOperation({ schema, document, operation }).run(options);
  return {
    data: JSON.parse(data!.text),
    failures: errors.map(({ path, message }) => `${path!.join('.')}: ${message}`),
  };
}

it.each([1, 10_000])('makes what is computed, or a date, once for an object: %i steps at a time', async (steps) => {
  const below = 'a: version b: version c: at d: at e: nothing f: nothing';
  const { data } = await run(
    `{ one: rows { ${below} copy { ${below} } } two: rows { ${below} copy { b: version } } }`,
    steps,
  );
  const shown = (number: number): object => {
    const at = new Date(number).toISOString();
    return { a: `v${number}`, b: `v${number}`, c: at, d: at, e: null, f: null };
  };
  const [first, second] = [1, 2].map((number) => Object.assign(shown(number), { copy: shown(number) }));
  expect((data as { one: unknown }).one).toEqual([first, second, first]);
  // Each row has a copy, with the same date.
  expect(made).toEqual({ version: 4, instant: 2, nothing: 4, copy: 2 });
});

it('makes it again for other arguments', async () => {
  const { data } = await run('{ rows { a: times(by: 2) b: times(by: 3) c: times } }', 10_000);
  expect((data as { rows: unknown[] }).rows[1]).toEqual({ a: '4', b: '6', c: '2' });
  expect(made).toEqual({ times: 6 });
});

it('fails once, and says so at each place', async () => {
  const { data, failures } = await run('{ rows { a: broken b: broken } }', 10_000);
  expect(data).toEqual({ rows: Array.from({ length: 3 }, () => ({ a: null, b: null })) });
  expect(made).toEqual({ broken: 2 });
  const numbers = [1, 2, 1];
  expect(failures).toEqual(
    numbers.flatMap((number, row) => ['a', 'b'].map((key) => `rows.${row}.${key}: broken ${number}`)),
  );
});
