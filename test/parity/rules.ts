import type { OperationName } from './operations.ts';

type Input = Readonly<Record<string, unknown>>;
type Code = 'VALIDATION_FAILED' | 'NOT_FOUND' | 'CONFLICT';

/** What both protocols must refuse. `id` is whose; ids in the input are digits. */
export interface Refusal {
  readonly rule: string;
  readonly operation: OperationName;
  readonly id?: string;
  readonly input: Input;
  readonly code: Code;
  readonly fields: readonly string[];
}

const pet = { name: 'Rex', categoryId: '1' };
const unknown = '9223372036854775807';

const invalid = (rule: string, operation: OperationName, input: Input, ...fields: string[]): Refusal => ({
  rule,
  operation,
  id: '1',
  input,
  code: 'VALIDATION_FAILED',
  fields: fields.toSorted(),
});

const refused = (code: Code, rule: string, operation: OperationName, id: string, input: Input = {}): Refusal => ({
  rule,
  operation,
  id,
  input,
  code,
  fields: [],
});

const badNames: readonly [rule: string, name: string][] = [
  ['a name is not empty', ''],
  ['a name is not white space alone', ' \t\n '],
  ['a name has at most 255 characters', 'x'.repeat(256)],
  ['a name has at most 255 code points', '🐕'.repeat(256)],
  ['a name has no NUL', 'a\u0000b'],
  ['a name has no tab inside', 'a\tb'],
  ['a name has no DEL', 'a\u007fb'],
  ['a name has no C1 control character', 'a\u0085b'],
  ['a name has no half of a surrogate pair', 'a\ud800'],
];

const badDates: readonly [rule: string, shipDate: string][] = [
  ['a date has an offset', '2026-12-24T10:00:00'],
  ['a date has a time', '2026-12-24'],
  ['a date is in the calendar', '2026-02-29T10:00:00Z'],
  ['a date has 24 hours', '2026-12-24T24:00:01Z'],
  ['a date is not in the year 0', '0000-12-31T23:59:59Z'],
  ['a date is before the year 10000 in UTC', '9999-12-31T23:59:59-01:00'],
  ['a date is no number', '1795264800'],
];

/** A category with a pet with an order, each with the id 1, and a complete order with the id 2. */
export const refusals: readonly Refusal[] = [
  ...badNames.flatMap(([rule, name]) => [
    invalid(rule, 'createPet', { ...pet, name }, 'name'),
    invalid(rule, 'updatePet', { name }, 'name'),
    invalid(rule, 'createCategory', { name }, 'name'),
    invalid(rule, 'updateCategory', { name }, 'name'),
  ]),
  invalid('a pet has a name', 'createPet', { categoryId: '1' }, 'name'),
  invalid('a pet has a category', 'createPet', { name: 'Rex' }, 'categoryId'),
  invalid("a pet's category exists", 'createPet', { ...pet, categoryId: unknown }, 'categoryId'),
  invalid("a pet's category exists", 'updatePet', { categoryId: unknown }, 'categoryId'),
  invalid('a status is one of three', 'createPet', { ...pet, status: 'lost' }, 'status'),
  invalid('a status is one of three', 'updatePet', { status: 'lost' }, 'status'),
  invalid("a pet's name can't be removed", 'updatePet', { name: null }, 'name'),
  invalid("a pet's category can't be removed", 'updatePet', { categoryId: null }, 'categoryId'),
  invalid("a pet's status can't be removed", 'updatePet', { status: null }, 'status'),
  invalid("a category's name can't be removed", 'updateCategory', { name: null }, 'name'),
  invalid("an order's completion can't be removed", 'updateOrder', { complete: null }, 'complete'),
  invalid('every failing field is named', 'createPet', { name: '', categoryId: unknown }, 'name', 'categoryId'),
  invalid('every failing field is named', 'createOrder', { quantity: 0, petId: unknown }, 'petId', 'quantity'),
  invalid('every failing field is named', 'updatePet', { name: '', categoryId: unknown }, 'name', 'categoryId'),
  invalid('every failing field is named', 'updateOrder', { shipDate: '', petId: unknown }, 'petId', 'shipDate'),
  invalid('a category has a name', 'createCategory', { description: 'Loyal' }, 'name'),
  invalid(
    'a description has at most 2,000 characters',
    'createCategory',
    { name: 'Dogs', description: 'x'.repeat(2001) },
    'description',
  ),
  invalid('a description has no NUL', 'createCategory', { name: 'Dogs', description: 'a\u0000' }, 'description'),
  invalid('a description has no escape', 'updateCategory', { description: 'a\u001b' }, 'description'),
  invalid('a description has no half of a surrogate pair', 'updateCategory', { description: '\udc00' }, 'description'),
  ...badDates.flatMap(([rule, shipDate]) => [
    invalid(rule, 'createOrder', { shipDate }, 'shipDate'),
    invalid(rule, 'updateOrder', { shipDate }, 'shipDate'),
  ]),
  invalid("an order's pet exists", 'createOrder', { petId: unknown }, 'petId'),
  invalid("an order's pet exists", 'updateOrder', { petId: unknown }, 'petId'),
  invalid('an order is for one unit or more', 'createOrder', { quantity: 0 }, 'quantity'),
  invalid('an order is for one unit or more', 'updateOrder', { quantity: -1 }, 'quantity'),
  invalid('a quantity is an int32', 'createOrder', { quantity: 2147483648 }, 'quantity'),
  invalid('a quantity is whole', 'createOrder', { quantity: 1.5 }, 'quantity'),
  invalid('a stock is not below zero', 'updateInventory', { quantity: -1 }, 'quantity'),
  invalid('a stock is an int32', 'updateInventory', { quantity: 2147483648 }, 'quantity'),
  invalid('a stock is given', 'updateInventory', {}, 'quantity'),

  refused('CONFLICT', 'a category with pets stays', 'deleteCategory', '1'),
  refused('CONFLICT', 'a pet with orders stays', 'deletePet', '1'),
  refused('CONFLICT', 'a complete order stays', 'cancelOrder', '2'),
  refused('CONFLICT', 'a complete order stays complete', 'updateOrder', '2', { complete: false }),

  ...[unknown, '007', '+1', 'abc', '9223372036854775808'].flatMap((id) => [
    refused('NOT_FOUND', `nothing has the id ${id}`, 'updatePet', id, { name: 'Rex' }),
    refused('NOT_FOUND', `nothing has the id ${id}`, 'deletePet', id),
    refused('NOT_FOUND', `nothing has the id ${id}`, 'updateCategory', id, { name: 'Dogs' }),
    refused('NOT_FOUND', `nothing has the id ${id}`, 'deleteCategory', id),
    refused('NOT_FOUND', `nothing has the id ${id}`, 'updateOrder', id, { quantity: 1 }),
    refused('NOT_FOUND', `nothing has the id ${id}`, 'cancelOrder', id),
    refused('NOT_FOUND', `nothing has the id ${id}`, 'updateInventory', id, { quantity: 1 }),
  ]),
];

/** What both protocols must take, and what they make of it: undefined is no value. */
export const acceptances: readonly {
  readonly rule: string;
  readonly operation: OperationName;
  readonly id?: string;
  readonly input: Input;
  readonly kept: Input;
}[] = [
  {
    rule: 'white space around a name is cut off',
    operation: 'createCategory',
    input: { name: '\t Dogs\u00a0 ' },
    kept: { name: 'Dogs' },
  },
  {
    rule: 'a name may have 255 code points',
    operation: 'createCategory',
    input: { name: '🐕'.repeat(255) },
    kept: { name: '🐕'.repeat(255) },
  },
  {
    rule: 'a pet is available at first',
    operation: 'createPet',
    input: pet,
    kept: { name: 'Rex', status: 'available' },
  },
  {
    rule: 'any status may follow any',
    operation: 'updatePet',
    id: '1',
    input: { status: 'sold' },
    kept: { status: 'sold' },
  },
  {
    rule: 'any status may follow any',
    operation: 'updatePet',
    id: '1',
    input: { status: 'available' },
    kept: { status: 'available' },
  },
  {
    rule: 'a description may be empty',
    operation: 'createCategory',
    input: { name: 'Dogs', description: '' },
    kept: { description: '' },
  },
  {
    rule: 'a description may have 2,000 code points',
    operation: 'createCategory',
    input: { name: 'Dogs', description: '🐕'.repeat(2000) },
    kept: { description: '🐕'.repeat(2000) },
  },
  {
    rule: 'a description may have lines',
    operation: 'updateCategory',
    id: '1',
    input: { description: 'a\tb\r\nc' },
    kept: { description: 'a\tb\r\nc' },
  },
  {
    rule: 'null removes a description',
    operation: 'updateCategory',
    id: '1',
    input: { description: null },
    kept: { name: 'Dogs', description: undefined },
  },
  {
    rule: 'nothing of an order is required',
    operation: 'createOrder',
    input: {},
    kept: { quantity: undefined, shipDate: undefined, complete: false },
  },
  {
    rule: 'a date is kept in UTC with milliseconds',
    operation: 'createOrder',
    input: { shipDate: '2026-12-24t10:00:00.12345+02:00' },
    kept: { shipDate: '2026-12-24T08:00:00.123Z' },
  },
  {
    rule: 'null removes the values of an order',
    operation: 'updateOrder',
    id: '1',
    input: { petId: null, quantity: null, shipDate: null },
    kept: { quantity: undefined, shipDate: undefined },
  },
  {
    rule: 'a complete order may change otherwise',
    operation: 'updateOrder',
    id: '2',
    input: { quantity: 2147483647, complete: true },
    kept: { quantity: 2147483647, complete: true },
  },
  {
    rule: 'a stock may be the largest int32',
    operation: 'updateInventory',
    id: '1',
    input: { quantity: 2147483647 },
    kept: { quantity: 2147483647 },
  },
  {
    rule: 'a stock may be empty',
    operation: 'updateInventory',
    id: '1',
    input: { quantity: 0 },
    kept: { quantity: 0 },
  },
];

/** What both protocols must refuse of a list: the same under the name that each has for it. */
export const listRefusals: readonly {
  readonly rule: string;
  readonly url: string;
  readonly field: string;
  readonly query: string;
  readonly argument: string;
}[] = [
  ...['pets', 'categories', 'orders', 'inventory'].map((list) => ({
    rule: 'a cursor is one that was given',
    url: `${list === 'orders' ? '/store/orders' : `/${list}`}?cursor=bm90IG91cnM`,
    field: 'cursor',
    query: `${list}(after: "bm90IG91cnM")`,
    argument: 'after',
  })),
  {
    rule: 'a page has at most 100 pets',
    url: '/pets?limit=101',
    field: 'limit',
    query: 'pets(first: 101)',
    argument: 'first',
  },
  {
    rule: 'a page has no negative size',
    url: '/pets?limit=-1',
    field: 'limit',
    query: 'pets(first: -1)',
    argument: 'first',
  },
];
