import fc from 'fast-check';

/** Names of the schema, and others. */
const leaf = fc.constantFrom('id', 'name', 'status', 'quantity', '__typename', 'nothing', 'complete', 'nodeId');
const list = fc.constantFrom(
  'pets',
  'categories',
  'orders',
  'inventory',
  'edges',
  'node',
  'pageInfo',
  'category',
  'pet',
);
const one = fc.constantFrom(
  'pet',
  'category',
  'order',
  'inventoryItem',
  'node',
  'nodes',
  'rateLimit',
  'viewer',
  '__schema',
);

const name = fc.oneof(
  { weight: 80, arbitrary: fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,12}$/) },
  { weight: 1, arbitrary: fc.constantFrom('__proto__', 'constructor', 'toString', 'hasOwnProperty', 'then') },
  { weight: 1, arbitrary: fc.integer({ min: 100, max: 5_000 }).map((length) => 'a'.repeat(length)) },
);

const literal: fc.Arbitrary<string> = fc.oneof(
  fc.integer().map(String),
  fc.double().map(String),
  fc.constantFrom('9'.repeat(300), '-0', '1e999', '0x10', '1e-400', 'null', 'true', 'AVAILABLE', '$v', '$missing'),
  fc.string({ maxLength: 40, unit: 'binary' }).map((text) => JSON.stringify(text)),
  fc.constantFrom('"}); process.exit(1); //"', '"${process.exit(1)}"', '"""\n\\"""\n"""', '"\\ud800"', '"\\u0000"'),
  fc.constantFrom('[]', '[[[[1]]]]', '{}', '{a: {b: {c: []}}}', '{field: NAME, direction: ASC}'),
);

const argument = fc
  .tuple(
    fc.oneof(fc.constantFrom('first', 'last', 'after', 'before', 'filter', 'orderBy', 'id', 'petId', 'nodeIds'), name),
    literal,
  )
  .map(([key, value]) => `${key}: ${value}`);

const parameters = fc.array(argument, { maxLength: 4 }).map((all) => (all.length === 0 ? '' : `(${all.join(', ')})`));

const directives = fc
  .array(fc.tuple(fc.oneof(fc.constantFrom('skip', 'include', 'defer', 'stream', 'deprecated'), name), literal), {
    maxLength: 3,
  })
  .map((all) => all.map(([key, value]) => ` @${key}(if: ${value})`).join(''));

const { selection } = fc.letrec<{ selection: string; field: string }>((tie) => ({
  selection: fc.array(tie('field'), { minLength: 1, maxLength: 6 }).map((fields) => `{ ${fields.join(' ')} }`),
  field: fc.oneof(
    { maxDepth: 8, withCrossShrink: true },
    leaf,
    fc
      .tuple(fc.option(name), fc.oneof(list, one), parameters, directives, tie('selection'))
      .map(
        ([alias, field, args, marks, inner]) => `${alias === null ? '' : `${alias}: `}${field}${args}${marks} ${inner}`,
      ),
    fc.integer({ min: 0, max: 30 }).map((number) => `...F${number}`),
    fc
      .tuple(fc.constantFrom('Pet', 'Query', 'Node', 'Nothing'), tie('selection'))
      .map(([type, inner]) => `... on ${type} ${inner}`),
  ),
}));

const fragments = fc
  .array(fc.tuple(fc.constantFrom('Query', 'Pet', 'Category', 'PetConnection', 'Node'), selection), { maxLength: 30 })
  .map((all) => all.map(([type, inner], index) => `fragment F${index} on ${type} ${inner}`).join('\n'));

/** Fields that fit the schema, with a page size for each `N`. */
const fields = fc.constantFrom(
  `pets(first: N, orderBy: { field: NAME, direction: DESC }) { totalCount pageInfo { hasNextPage endCursor }
    edges { cursor node { id name category { description pets(first: N) { nodes { nodeId inventory { quantity } } } } } } }`,
  `categories(first: N) { edges { cursor node { id name pets(last: N) { totalCount edges { node { status
    orders(first: N) { nodes { quantity pet { name orders(first: N) { totalCount } } } } } } } } } }`,
  'orders(last: N) { totalCount nodes { id shipDate complete pet { name category { name pets(first: N) { nodes { id } } } } } }',
  'inventory(first: $v) { edges { cursor node { petId status pet { category { name } orders(last: N) { totalCount } } } } }',
  'pets(first: N, after: "x") { edges { cursor } }',
);

const size = fc.oneof(
  { weight: 9, arbitrary: fc.integer({ min: 0, max: 5 }) },
  { weight: 1, arbitrary: fc.integer({ min: -1, max: 101 }) },
);

/** Documents that get as far as the database, if the limits let them. */
const valid = fc.array(fc.tuple(fields, fc.tuple(size, size, size)), { minLength: 1, maxLength: 4 }).map((roots) => {
  const texts = roots.map(([field, sizes], index) => {
    let next = 0;
    return `r${index}: ${field.replaceAll(/\bN\b/g, () => String(sizes[next++ % sizes.length]))}`;
  });
  const text = texts.join(' ');
  return `query${text.includes('$v') ? '($v: Int)' : ''} { ${text} }`;
});

const operation = fc
  .tuple(fc.constantFrom('query', 'mutation', 'subscription', ''), fc.option(name), selection, fragments)
  .map(([kind, named, inner, rest]) => `${kind === '' ? '' : `${kind} ${named ?? ''}($v: Int = 1)`} ${inner}\n${rest}`);

/** Few of them mean anything. */
const document: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: operation },
  { weight: 10, arbitrary: valid },
  { weight: 1, arbitrary: fc.string({ maxLength: 2_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 50_000 }).map((depth) => '{pets'.repeat(depth)) },
);

/** The text of a body: numbers that no double keeps are made where JSON.stringify wouldn't. */
export const body: fc.Arbitrary<string> = fc
  .tuple(
    document,
    fc.oneof(
      fc.integer({ min: -1, max: 50 }).map(String),
      fc.constantFrom('null', '"x"', '9'.repeat(2_000), '1e400', '[{}]'),
      fc.json(),
    ),
    fc.boolean(),
  )
  .map(
    ([query, value, isNamed]) =>
      `{"query":${JSON.stringify(query)},"variables":{"v":${value}}${isNamed ? ',"operationName":"x"' : ''}}`,
  );
