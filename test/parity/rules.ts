import { testedNouns, type TestedNoun } from '../support/nouns/nouns.ts';
import type { Schema } from '../../src/rest/openapi/document.ts';
import { operations, type Operation } from './operations.ts';

type Input = Readonly<Record<string, unknown>>;
type Code = 'VALIDATION_FAILED' | 'NOT_FOUND' | 'CONFLICT';

/** What both protocols must refuse. `id` is whose; ids in the input are digits. */
export interface Refusal {
  readonly rule: string;
  readonly operation: string;
  readonly id?: string;
  readonly input: Input;
  readonly code: Code;
  readonly fields: readonly string[];
}

const pet = { name: 'Rex', categoryId: '1' };
const unknown = '9223372036854775807';

const invalid = (rule: string, operation: string, input: Input, ...fields: string[]): Refusal => ({
  rule,
  operation,
  id: '1',
  input,
  code: 'VALIDATION_FAILED',
  fields: fields.toSorted(),
});

const refused = (code: Code, rule: string, operation: string, id: string, input: Input = {}): Refusal => ({
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

const badDescriptions: readonly [rule: string, description: string][] = [
  ['a text has at most 2,000 characters', 'x'.repeat(2001)],
  ['a text has no NUL', 'a\u0000'],
  ['a text has no escape', 'a\u001b'],
  ['a text has no half of a surrogate pair', '\udc00'],
];

/** By the formats of the document that stand for a rule. */
const badTexts: Readonly<Record<string, readonly [rule: string, value: string][]>> = {
  name: badNames,
  text: badDescriptions,
  'date-time': badDates,
};

const propertiesOf = ({ body }: Operation) => Object.entries(body?.properties ?? {});
const required = ({ body }: Operation) => (body?.['required'] ?? []) as readonly string[];
const isReference = ({ format }: Schema) => format === 'int64';

/** The least that an operation takes: ids are 1, other values the document's examples. */
function leastOf(operation: Operation): Input {
  const properties = propertiesOf(operation);
  const needed = properties.filter(([name]) => required(operation).includes(name));
  const taken = needed.length > 0 || operation.method === 'POST' ? needed : properties.slice(0, 1);
  return Object.fromEntries(taken.map(([name, schema]) => [name, isReference(schema) ? '1' : schema['example']]));
}

/** What follows from the document for each property of a body, and from the nouns' own files. */
function refusalsOf(operation: Operation): Refusal[] {
  const { name, method } = operation;
  const isCreation = method === 'POST';
  const least = isCreation ? leastOf(operation) : {};
  const tested = testedNouns.find(({ path }) => operation.url.split('/:')[0] === path);
  const { noun, collection, file, refused: bad = {} } = tested as TestedNoun;
  const service = `src/domain/${collection}/${noun}.service.ts`;
  return propertiesOf(operation).flatMap(([property, schema]) => {
    const isText = schema.type === 'string' && schema['enum'] === undefined;
    if (isText && !(String(schema.format) in badTexts) && bad[property] === undefined) {
      throw new Error(`refused in ${file} lacks ${property}, a text with a rule of its own.`);
    }
    const values: [rule: string, value: unknown][] = [
      ...(badTexts[String(schema.format)] ?? []),
      ...(bad[property] ?? []).map((value): [string, unknown] => [
        `${property} is never ${JSON.stringify(value)}`,
        value,
      ]),
    ];
    if (schema['enum'] !== undefined) values.push([`${property} is one of a few`, 'lost']);
    if (isReference(schema)) values.push([`what ${property} names exists (refersTo, mayReferTo)`, unknown]);
    if (required(operation).includes(property)) values.push([`${property} is given`, undefined]);
    else if (!isCreation && schema.nullable !== true) values.push([`${property} can't be removed`, null]);
    return values.map(([rule, value]) =>
      invalid(`${rule}, by ${service}`, name, { ...least, [property]: value }, property),
    );
  });
}

/** A category with a pet with an order, each with the id 1, and a complete order with the id 2. */
export const refusals: readonly Refusal[] = [
  ...operations.flatMap(refusalsOf),
  invalid('every failing field is named', 'createPet', { name: '', categoryId: unknown }, 'name', 'categoryId'),
  invalid('every failing field is named', 'createOrder', { quantity: 0, petId: unknown }, 'petId', 'quantity'),
  invalid('every failing field is named', 'updatePet', { name: '', categoryId: unknown }, 'name', 'categoryId'),
  invalid('every failing field is named', 'updateOrder', { shipDate: '', petId: unknown }, 'petId', 'shipDate'),
  invalid('an order is for one unit or more', 'createOrder', { quantity: 0 }, 'quantity'),
  invalid('an order is for one unit or more', 'updateOrder', { quantity: -1 }, 'quantity'),
  invalid('a quantity is an int32', 'createOrder', { quantity: 2147483648 }, 'quantity'),
  invalid('a quantity is whole', 'createOrder', { quantity: 1.5 }, 'quantity'),
  invalid('a stock is not below zero', 'updateInventory', { quantity: -1 }, 'quantity'),
  invalid('a stock is an int32', 'updateInventory', { quantity: 2147483648 }, 'quantity'),

  refused('CONFLICT', 'a category with pets stays', 'deleteCategory', '1'),
  refused('CONFLICT', 'a pet with orders stays', 'deletePet', '1'),
  refused('CONFLICT', 'a complete order stays', 'cancelOrder', '2'),
  refused('CONFLICT', 'a complete order stays complete', 'updateOrder', '2', { complete: false }),

  ...[unknown, '007', '+1', 'abc', '9223372036854775808'].flatMap((id) =>
    operations
      .filter(({ idField }) => idField !== undefined)
      .map((operation) => refused('NOT_FOUND', `nothing has the id ${id}`, operation.name, id, leastOf(operation))),
  ),
];

/** What both protocols must accept, and what is stored: undefined is no value. */
export interface Acceptance {
  readonly rule: string;
  readonly operation: string;
  readonly id: string;
  readonly input: Input;
  readonly stored: Input;
}

const accepted = (rule: string, operation: string, input: Input, stored: Input, id = '1'): Acceptance => ({
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
  accepted('no other field changes', 'updatePet', { status: 'sold' }, { name: 'Rex', status: 'sold' }),
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
  ...['0001-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z', '1883-11-18T12:03:58.001Z'].map((shipDate) =>
    accepted('a date is of the years 0001 to 9999, to the millisecond', 'updateOrder', { shipDate }, { shipDate }),
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
