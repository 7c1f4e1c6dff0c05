import fc from 'fast-check';

/** One list of a query, in which `§` stands for a number: those of a query differ, so that nothing is read once for all. */
export interface ListField {
  readonly text: string;
  /** How often it is asked for, at most: as often as complexity lets it. */
  readonly aliases: number;
}

/** Found in all names, in many, in few and in none; with three letters and more there is an index. */
const searched = fc.constantFrom('e', 'Pet', 'Pet §', '§', 'et 1', 'nowhere §', 'a longer text that is nowhere §');
const some = (filters: Readonly<Record<string, fc.Arbitrary<string>>>): fc.Arbitrary<string> =>
  fc.record(filters, { requiredKeys: [] }).map(
    (given) =>
      `{ ${Object.entries(given)
        .map(([name, value]) => `${name}: ${value}`)
        .join(', ')} }`,
  );

const text = searched.map((value) => JSON.stringify(value));
const search = text.map((value) => `{ nameContains: ${value} }`);
const anyOfPets = some({
  nameContains: text,
  statusIn: fc.constantFrom('[SOLD]', '[AVAILABLE, PENDING]'),
  categoryIdIn: fc
    .integer({ min: 1, max: 300 })
    .map((count) => `[${Array.from({ length: count }, (_, n) => n + 1).join()}]`),
});
const petFilter = fc.oneof(search, anyOfPets);
const filters = {
  pets: petFilter,
  categories: fc.oneof(search, fc.constant('{}')),
  orders: some({
    complete: fc.constantFrom('true', 'false'),
    shipDateFrom: fc.constant('"2026-01-01T00:00:00Z"'),
    petIdIn: fc.constant('[1, 2, §]'),
  }),
  inventory: some({ statusIn: fc.constant('[SOLD]'), quantityAtLeast: fc.constantFrom('0', '3', '4') }),
};
const sorts = {
  pets: ['ID', 'NAME'],
  categories: ['ID', 'NAME'],
  orders: ['ID', 'SHIP_DATE'],
  inventory: ['PET_ID', 'QUANTITY'],
} as const;

const selected = fc.constantFrom('totalCount', 'nodes { ROW }', 'pageInfo { hasNextPage }', 'totalCount nodes { ROW }');
const size = fc.constantFrom('first: 0', 'first: 1', 'last: 1', 'first: 20', 'last: 100', 'first: 100');

function listField(list: keyof typeof filters, row: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const orders = fc.constantFrom(...sorts[list]).map((by) => `orderBy: { field: ${by}, direction: DESC }`);
  return fc
    .tuple(size, filters[list], fc.option(orders, { nil: '' }), selected, row)
    .map(
      ([given, filter, order, shape, inside]) =>
        `${list}(${given}, filter: ${filter} ${order}) { ${shape.replace('ROW', inside)} }`,
    );
}

const id = fc.constant('id');
const ofCategory = fc.oneof(id, listField('pets', id));
const ofPet = fc.oneof(id, listField('orders', id), fc.constant('category { pets(first: 3) { totalCount } }'));

/** Lists of every kind with every filter, order and part, and lists in the rows of some. */
export const listFields: fc.Arbitrary<ListField> = fc.record({
  text: fc.oneof(
    { weight: 3, arbitrary: listField('pets', id) },
    { weight: 1, arbitrary: listField('pets', ofPet) },
    { weight: 1, arbitrary: listField('categories', ofCategory) },
    { weight: 1, arbitrary: listField('orders', id) },
    { weight: 1, arbitrary: listField('inventory', id) },
  ),
  aliases: fc.constantFrom(10, 50, 50, 50),
});

/** The query with so many of the field. */
export function queryOf({ text: field }: ListField, aliases: number, seed: number): string {
  const lists = Array.from(
    { length: aliases },
    (_, index) => `a${index}: ${field.replaceAll('§', String(1 + ((seed + 997 * index) % 90_000)))}`,
  );
  return `{ ${lists.join(' ')} }`;
}
