import fc from 'fast-check';

/** Mutations with `@atomic` of which something below a payload reads a table that nothing else of them touches. */
interface Atomic {
  /** The table: who locks it makes the reading take as long as it likes. */
  readonly read: string;
  readonly fields: readonly string[];
}

const id = fc.integer({ min: 1, max: 3 });
const page = fc.constantFrom('first: 1', 'first: 3', 'last: 2', 'first: 2, filter: { nameContains: "e" }');

/** What is selected on a row, and reads the table: at most so many rows are between it and the list or row that does. */
type Selections = (depth: number) => fc.Arbitrary<string>;

const own = fc.constantFrom('', 'id', 'version', 'nodeId version', '__typename');
const with1 = (selection: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(own, selection).map((parts) => parts.join(' '));

const listOf = (field: string, args: fc.Arbitrary<string>, row: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(args, fc.constantFrom('nodes { ROW }', 'edges { node { ROW } }', 'totalCount nodes { ROW }'), row)
    .map(([given, shape, inside]) => `${field}(${given}) { ${shape.replace('ROW', inside)} }`);

/** Reads orders, below a pet and below a category. */
const ordersOfPet: Selections = (depth) => {
  const direct = fc.constantFrom(
    'orders { totalCount }',
    'orders(first: 2, filter: { complete: false }) { nodes { id } }',
    'orders(last: 1, orderBy: { field: SHIP_DATE }) { pageInfo { hasNextPage } totalCount }',
  );
  if (depth === 0) return with1(direct);
  const below = fc.oneof(
    direct,
    ordersOfPet(depth - 1).map((selection) => `inventory { pet { ${selection} } }`),
    ordersOfCategory(depth - 1).map((selection) => `category { ${selection} }`),
  );
  return with1(below);
};
const ordersOfCategory: Selections = (depth) => with1(listOf('pets', page, ordersOfPet(Math.max(0, depth - 1))));

/** Reads categories, below a pet that is selected on an order or an inventory entry. */
const categoryOfPet: Selections = (depth) => {
  const direct = fc.constantFrom('category { name }', 'category { version pets(first: 1) { nodes { id } } }');
  if (depth === 0) return with1(direct);
  const below = fc.oneof(
    direct,
    categoryOfPet(depth - 1).map((selection) => `inventory { pet { ${selection} } }`),
    categoryOfPet(depth - 1).map((selection) => `orders(first: 2) { nodes { pet { ${selection} } } }`),
  );
  return with1(below);
};

const field = (
  text: (given: number) => string,
  payload: string,
  selections: fc.Arbitrary<string>,
): fc.Arbitrary<string> =>
  fc.tuple(id, selections).map(([given, selection]) => `${text(given)} { ${payload} { ${selection} } }`);

const mutations = {
  updatePet: (given: number) => `updatePet(input: { id: ${given}, name: "Held" })`,
  movePet: (given: number) => `updatePet(input: { id: ${given}, categoryId: ${given} })`,
  createPet: (given: number) => `createPet(input: { name: "New", categoryId: ${given} })`,
  updateCategory: (given: number) => `updateCategory(input: { id: ${given}, name: "Held" })`,
  updateInventory: (given: number) => `updateInventory(input: { petId: ${given}, quantity: 5 })`,
  createOrder: (given: number) => `createOrder(input: { petId: ${given} })`,
  updateOrder: (given: number) => `updateOrder(input: { id: ${given}, quantity: 5 })`,
};

const readsOrders = fc.oneof(
  field(mutations.updatePet, 'pet', ordersOfPet(3)),
  field(mutations.movePet, 'pet', ordersOfPet(3)),
  field(mutations.createPet, 'pet', ordersOfPet(3)),
  field(mutations.updateCategory, 'category', ordersOfCategory(3)),
  field(
    mutations.updateInventory,
    'inventoryItem',
    ordersOfPet(2).map((selection) => `pet { ${selection} }`),
  ),
);
const readsCategories = fc.oneof(
  field(
    mutations.createOrder,
    'order',
    categoryOfPet(2).map((selection) => `pet { ${selection} }`),
  ),
  field(
    mutations.updateOrder,
    'order',
    categoryOfPet(2).map((selection) => `pet { ${selection} }`),
  ),
  field(
    mutations.updateInventory,
    'inventoryItem',
    categoryOfPet(2).map((selection) => `pet { ${selection} }`),
  ),
);

const several = (one: fc.Arbitrary<string>): fc.Arbitrary<readonly string[]> =>
  fc.array(one, { minLength: 1, maxLength: 5 });

/** For every mutation whose payload shows a row, every kind of selection below it. */
export const atomicMutations: fc.Arbitrary<Atomic> = fc.oneof(
  several(readsOrders).map((fields) => ({ read: 'orders', fields })),
  several(readsCategories).map((fields) => ({ read: 'categories', fields })),
);

/** What others write of the same rows meanwhile: path, method and body. None of it touches the table that is read. */
export const writesBeside: Readonly<Record<string, readonly (readonly ['PATCH' | 'POST', string, object])[]>> = {
  orders: [1, 2, 3].flatMap((given) => [
    ['PATCH', `/pets/${given}`, { name: 'Other' }] as const,
    ['PATCH', `/categories/${given}`, { name: 'Other' }] as const,
    ['PATCH', `/inventory/${given}`, { quantity: 6 }] as const,
    ['POST', '/pets', { name: 'Other', categoryId: given }] as const,
  ]),
  categories: [1, 2, 3].flatMap((given) => [
    ['PATCH', `/store/orders/${given}`, { quantity: 6 }] as const,
    ['PATCH', `/inventory/${given}`, { quantity: 6 }] as const,
    ['PATCH', `/pets/${given}`, { name: 'Other' }] as const,
  ]),
};
