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

/** What both protocols must accept, and what is stored: undefined is no value. */
export interface Acceptance {
  readonly rule: string;
  readonly operation: OperationName;
  readonly id: string;
  readonly input: Input;
  readonly stored: Input;
}

const accepted = (rule: string, operation: OperationName, input: Input, stored: Input, id = '1'): Acceptance => ({
  rule,
  operation,
  id,
  input,
  stored,
});

export const acceptances: readonly Acceptance[] = [
  accepted('white space around a name is cut off', 'createCategory', { name: '\t Dogs\u00a0 ' }, { name: 'Dogs' }),
  accepted('a name may have 255 code points', 'createCategory', { name: '🐕'.repeat(255) }, { name: '🐕'.repeat(255) }),
  accepted('a pet is available at first', 'createPet', pet, { name: 'Rex', status: 'available' }),
  accepted('any status may follow any', 'updatePet', { status: 'sold' }, { status: 'sold' }),
  accepted('any status may follow any', 'updatePet', { status: 'available' }, { status: 'available' }),
  accepted('a value may be what it is already', 'updatePet', { name: 'Rex' }, { name: 'Rex' }),
  accepted('a description may be empty', 'createCategory', { name: 'Dogs', description: '' }, { description: '' }),
  accepted(
    'a description may have 2,000 code points',
    'createCategory',
    { name: 'Dogs', description: '🐕'.repeat(2000) },
    { description: '🐕'.repeat(2000) },
  ),
  accepted(
    'a description may have lines',
    'updateCategory',
    { description: 'a\tb\r\nc' },
    { description: 'a\tb\r\nc' },
  ),
  accepted(
    'null removes a description',
    'updateCategory',
    { description: null },
    { name: 'Dogs', description: undefined },
  ),
  accepted(
    'nothing of an order is required',
    'createOrder',
    {},
    { quantity: undefined, shipDate: undefined, complete: false },
  ),
  accepted(
    'a date is kept in UTC with milliseconds',
    'createOrder',
    { shipDate: '2026-12-24t10:00:00.12345+02:00' },
    { shipDate: '2026-12-24T08:00:00.123Z' },
  ),
  accepted(
    'null removes the values of an order',
    'updateOrder',
    { petId: null, quantity: null, shipDate: null },
    { quantity: undefined, shipDate: undefined },
  ),
  accepted(
    'a complete order may change otherwise',
    'updateOrder',
    { quantity: 2147483647, complete: true },
    { quantity: 2147483647, complete: true },
    '2',
  ),
  accepted('a stock may be the largest int32', 'updateInventory', { quantity: 2147483647 }, { quantity: 2147483647 }),
  accepted('a stock may be empty', 'updateInventory', { quantity: 0 }, { quantity: 0 }),
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
    rule: 'a cursor is one of this service',
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
