import fc from 'fast-check';

import { times } from '../raw-requests.ts';
import { kindOf, type Scene } from './act.ts';

/** Results by what they are made of: objects of a type, with `LEAVES`, on pages of a `SIZE`. */
const shapes: Readonly<Record<string, readonly [type: 'Category' | 'Pet' | 'Order', field: string]>> = {
  'one object': ['Category', 'category(id: 1) { LEAVES }'],
  'a page': ['Category', 'categories(first: SIZE) { nodes { LEAVES } }'],
  edges: ['Pet', 'pets(last: SIZE) { pageInfo { endCursor } edges { cursor node { LEAVES } } }'],
  'one object below many': [
    'Category',
    'pets(first: SIZE, filter: { categoryIdIn: [1, 2] }) { nodes { category { LEAVES } } }',
  ],
  'lists in lists': ['Pet', 'categories(first: SIZE) { nodes { pets(first: SIZE) { nodes { LEAVES } } } }'],
  orders: ['Order', 'orders(first: SIZE) { nodes { LEAVES } }'],
  nodes: ['Category', 'nodes(nodeIds: $ids) { LEAVES }'],
  events: ['Category', 'events(first: SIZE) { nodes { at id version object { LEAVES } } }'],
  introspection: [
    'Category',
    '__schema { types { name description fields { name type { name } args { name defaultValue } } } }',
  ],
};

const leaves = {
  Category: ['version', 'nodeId', 'description', 'name'],
  Pet: ['version', 'nodeId', 'name', 'status'],
  Order: ['version', 'nodeId', 'shipDate', 'complete'],
} as const;

/** An operation may have 50 aliases, which its root fields and its leaves share. */
const maxAliases = 48;
const size = fc.oneof(fc.constant(100), fc.integer({ min: 1, max: 100 }));

const plan = fc.record({
  shape: fc.constantFrom(...Object.keys(shapes)),
  /** How often the root field is selected, and each time on pages of these sizes, from the outside in. */
  roots: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: maxAliases })),
  sizes: fc.tuple(size, size),
  leaf: fc.nat({ max: 3 }),
  /** The length of an alias. */
  length: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 60 })),
  /** How many different ones there are of the 100 ids. */
  ids: fc.integer({ min: 1, max: 20 }),
  /** A condition that is null is an error of each object. */
  isFailing: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
});

type Plan = typeof plan extends fc.Arbitrary<infer Value> ? Value : never;

/** Validation wants variables to be used. */
const used = 'nodes(nodeIds: $ids) @skip(if: true) { nodeId @include(if: $condition) }';

function bodyOf({ shape, roots, sizes, leaf, length, ids, isFailing }: Plan, { nodeIds }: Scene): string {
  const [type, field] = shapes[shape]!;
  const names = times(Math.max(1, maxAliases - roots), (index) => `${'a'.repeat(length)}${index}`);
  const selected = names.map((name) => `${name}: ${leaves[type][leaf]}`).join(' ');
  const condition = isFailing ? '__typename @include(if: $condition)' : '';
  let at = 0;
  const text = field
    .replace('LEAVES', `... on ${type} { ${selected} ${condition} }`)
    .replaceAll('SIZE', () => String(sizes[at++]));
  const all = times(roots, (index) => `r${index}: ${text}`).join(' ');
  const query = `query ($ids: [ID!]!, $condition: Boolean = true) { ${all} ${used} }`;
  const variables = { ids: times(100, (index) => nodeIds[index % ids]), condition: isFailing ? null : true };
  return JSON.stringify({ query, variables });
}

/** A result of any shape and size, also one that is refused because of its size. */
export const results = kindOf('results', plan, async (each, scene) => {
  const body = bodyOf(each, scene);
  const { status, text } = await scene.target.graphql(body);
  if (status >= 500 && status !== 503) throw new Error(`${status} ${text.slice(0, 500)} to ${body.slice(0, 2_000)}`);
  const isLarge = text.length > 1_000_000 || text.includes('RESULT_TOO_LARGE');
  return [isLarge ? 'large result' : `result ${status}`];
});
