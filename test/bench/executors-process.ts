import { createHash } from 'node:crypto';

import { buildSchema, execute, parse, type GraphQLSchema, type OperationDefinitionNode } from 'graphql';

import { PreparedOperation } from '../../src/platform/executor/index.ts';
import { threadMillis } from '../support/measurement.ts';
import { median } from './report.ts';

// The executor beside graphql-js with JSON.stringify: processor time of a page, and of results of some MB, which
// graphql-js makes in one piece. Rounds are interleaved; the first ones let V8 compile.

const rounds = 9;
const rows = Array.from({ length: 1_000 }, (_, index) => ({
  id: String(index),
  name: `Pet ${index}`,
  status: 'AVAILABLE',
  category: { id: String(index % 50), name: 'Category', description: 'A description of some length.' },
}));

function createSchema(): GraphQLSchema {
  const schema = buildSchema(`
    type Category { id: ID! name: String! description: String }
    type Pet { id: ID! name: String! status: String version: String category: Category }
    type Edge { node: Pet }
    type Connection { edges: [Edge] }
    type Query { pets(first: Int): Connection }
  `);
  const [query, pet] = [schema.getQueryType()!, schema.getType('Pet')];
  query.getFields()['pets']!.resolve = (_source, { first }: { first: number }) => ({
    edges: rows.slice(0, first).map((node) => ({ node })),
  });
  const { version } = (pet as ReturnType<typeof schema.getQueryType>)!.getFields();
  version!.resolve = (row) => createHash('sha256').update(JSON.stringify(row)).digest('base64url');
  version!.extensions = { computed: true };
  return schema;
}

const aliases = (count: number, field: string): string =>
  Array.from({ length: count }, (_, index) => `a${index}: ${field}`).join(' ');

/** By name: how often in a round, and the selection on 20 or 1,000 pets. */
const operations: Readonly<Record<string, readonly [times: number, first: number, selection: string]>> = {
  'a page of 20, as G1': [2_000, 20, 'id name status category { id name description }'],
  '300 aliases of a name of 1,000 pets': [1, 1_000, aliases(300, 'name')],
  '150 aliases of a version of 1,000 pets': [1, 1_000, aliases(150, 'version')],
};

async function millisOf(times: number, work: () => Promise<unknown>): Promise<number> {
  const startedAt = threadMillis();
  for (let done = 0; done < times; done += 1) await work();
  return (threadMillis() - startedAt) / times;
}

const schema = createSchema();
for (const [name, [times, first, selection]] of Object.entries(operations)) {
  const document = parse(`{ pets(first: ${first}) { edges { node { ${selection} } } } }`);
  const [operation] = document.definitions as [OperationDefinitionNode];
  const prepared = new PreparedOperation({ schema, document, operation });
  const [ours, theirs]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    ours.push(await millisOf(times, () => prepared.run({ context: undefined, variables: {}, maxBytes: 2 ** 24 })));
    theirs.push(await millisOf(times, async () => JSON.stringify(await execute({ schema, document }))));
  }
  console.log(`${name}: ${median(ours).toFixed(3)} ms, graphql-js ${median(theirs).toFixed(3)} ms`);
}
