import { createHash } from 'node:crypto';

import { expect, it } from '@jest/globals';
import {
  getIntrospectionQuery,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLString,
  parse,
  type OperationDefinitionNode,
} from 'graphql';

import { Accounts } from '../../../src/platform/callers/accounts.ts';
import { Callers } from '../../../src/platform/callers/caller.ts';
import { bytesOf, type Execution, PreparedOperation, type Turns } from '../../../src/platform/executor/index.ts';
import { threadMillis, watchTicks } from '../../support/measurement.ts';

/** What the executor itself may take of a tick, in processor time: the contract has 50 ms for the whole of one. */
const maxHoldMillis = 40;

const maxBytes = 8 * 1024 * 1024;

interface Row {
  readonly text: string;
  readonly number: number;
  readonly below?: Row | undefined;
}

/** 2,800 bytes, with characters that JSON escapes. */
const text = '\u{1F408}"'.repeat(500);
const failure = new Error('It fails.');

const rowType: GraphQLObjectType = new GraphQLObjectType<Row>({
  name: 'Row',
  fields: () => ({
    text: { type: GraphQLString },
    number: { type: GraphQLInt },
    below: { type: rowType },
    version: {
      type: GraphQLString,
      resolve: (row) => createHash('sha256').update(`${row.number}${row.text}`).digest('base64url'),
      extensions: { computed: true },
    },
    // An error at each place, and one that makes its row null.
    failing: { type: GraphQLString, resolve: () => failure, extensions: { computed: true } },
    missing: { type: new GraphQLNonNull(GraphQLString) },
  }),
});

const rowsOf = (length: number): Row[] =>
  Array.from({ length }, (_, number) => ({ text, number, below: { text, number } }));

const numbers = Array.from({ length: 300 }, () => Array.from({ length: 100 }, () => Array<number>(100).fill(1)));

const schema = new GraphQLSchema({
  query: new GraphQLObjectType({
    name: 'Query',
    fields: {
      row: { type: rowType, resolve: () => rowsOf(1)[0] },
      rows: {
        type: new GraphQLList(rowType),
        args: { of: { type: GraphQLInt, defaultValue: 100 } },
        resolve: async (_source, { of }: { readonly of: number }) => rowsOf(of),
      },
      numbers: {
        type: new GraphQLList(new GraphQLList(new GraphQLList(GraphQLInt))),
        resolve: () => numbers,
      },
    },
  }),
});

function prepare(query: string): PreparedOperation {
  const document = parse(query);
  const [operation] = document.definitions as OperationDefinitionNode[];
  return new PreparedOperation({ schema, document, operation: operation! });
}

const aliases = (length: number, field: string): string =>
  Array.from({ length }, (_, index) => `a${index}: ${field}`).join(' ');

const introspection = getIntrospectionQuery().replace('query IntrospectionQuery {', '').split('fragment')[0]!.trim();
const fragments = `fragment${getIntrospectionQuery().split('fragment').slice(1).join('fragment')}`;

/** A query for each shape, and the size of its result in MB; too large are those without. */
const shapes: Readonly<Record<string, readonly [query: string, megabytes?: number]>> = {
  '1,000 aliases of one long text': [`{ row { ${aliases(1_000, 'text')} } }`, 2.5],
  'a long text in many rows': [`{ rows(of: 2500) { text } }`, 6],
  'lists in lists of small things': ['{ numbers }', 6],
  'introspection, twenty times': [`{ ${aliases(20, introspection.slice(0, -1))} } ${fragments}`, 0.1],
  '45 lists of a hundred rows': [`{ ${aliases(45, 'rows { number version below { number version } }')} }`, 0.6],
  'aliases in many rows': [`{ rows(of: 1000) { ${aliases(300, 'number')} } }`, 2.7],
  'computed values in many rows': [`{ rows(of: 1000) { ${aliases(150, 'version')} } }`, 7],
  'a result that is too large': [`{ rows(of: 5000) { ${aliases(200, 'text')} } }`],
  'a result of computed values that is too large': [`{ rows(of: 2000) { ${aliases(200, 'version')} } }`],
  'a hundred thousand errors': [`{ rows(of: 1000) { ${aliases(100, 'failing')} } }`, 1],
  'an error in every row': [`{ rows(of: 20000) { number missing } }`, 0.09],
};

async function watch(query: string, turns?: Turns): Promise<{ execution: Execution; longestMillis: number }> {
  const prepared = prepare(query);
  const options = { context: undefined, variables: {}, maxBytes };
  const run = () => prepared.run({ ...options, turns: turns ?? new Callers(new Accounts()).for('client') });
  // Compiled by V8 as it is after some requests.
  let execution = await run();
  let longestMillis = Infinity;
  // A full collection, or a busy machine, is in one of them.
  for (let time = 0; time < 3 && longestMillis > maxHoldMillis / 2; time += 1) {
    const watched = watchTicks();
    execution = await run();
    longestMillis = Math.min(longestMillis, (await watched.stop()).longestMillis);
  }
  return { execution, longestMillis };
}

/**
 * `maxHoldMillis`, and more while the machine is slow: a fifth more than what `JSON.stringify` takes there, now, for all
 * of the small things, which is 35 ms, and up to 70 on a busy machine.
 */
function allowedMillis(): number {
  const runs = 3;
  const began = threadMillis();
  for (let run = 0; run < runs; run += 1) JSON.stringify(numbers);
  return Math.max(maxHoldMillis, (1.2 * (threadMillis() - began)) / runs);
}

it.each(Object.entries(shapes))('holds the loop for a short time: %s', async (_shape, [query, megabytes]) => {
  const { execution, longestMillis } = await watch(query);
  const { data } = execution;
  expect(data === undefined).toBe(megabytes === undefined);
  if (data !== undefined) expect(bytesOf(data)).toBeGreaterThan(megabytes! * 1e6);
  expect(longestMillis).toBeLessThan(allowedMillis());
});

it('a small result waits for nobody', async () => {
  let asked = 0;
  const turn = (): Promise<void> => {
    asked += 1;
    return Promise.resolve();
  };
  await watch(`{ rows(of: 20) { ${aliases(20, 'number')} version below { text version } } }`, { turn });
  expect(asked).toBe(0);
});

it('says what it holds whenever it yields, and holds nothing more once that is refused', async () => {
  const held: number[] = [];
  const gone = new Error('The client has disconnected.');
  const prepared = prepare(`{ rows(of: 2000) { text version } }`);
  const turn = (bytes: number): Promise<void> => {
    held.push(bytes);
    return bytes > 3e6 ? Promise.reject(gone) : Promise.resolve();
  };
  const { data, errors } = await prepared.run({ context: undefined, variables: {}, maxBytes, turns: { turn } });
  expect(held).toEqual(held.toSorted((a, b) => a - b));
  expect(held.length).toBeGreaterThan(10);
  expect(held.at(-1)).toBeGreaterThan(3e6);
  expect(held.at(-2)).toBeLessThan(3e6);
  expect(data).toEqual({ chunks: [], text: 'null' });
  expect(errors.map(({ message }) => message)).toEqual([gone.message]);
});
