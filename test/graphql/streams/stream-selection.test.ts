import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { execute, extendSchema, getOperationAST, OperationTypeNode, parse, validate, specifiedRules } from 'graphql';

import type { Id } from '../../../src/domain/id.ts';
import type { EventSubject, StoreEvent } from '../../../src/domain/events/event.ts';
import { type NounName, nouns } from '../../../src/domain/nouns.ts';
import type { ScopeHolder } from '../../../src/domain/access/scope.ts';
import { createSchema } from '../../../src/graphql/schema.ts';
import { OwnFieldsOfPastObjects } from '../../../src/graphql/pipeline/own-fields-rule.ts';
import { StreamSelection } from '../../../src/graphql/streams/stream-selection.ts';

const schema = createSchema();
const seed = Number(process.env['STREAM_SEED'] ?? Date.now() % 2 ** 31);

const reader: ScopeHolder = { scopes: ['read'] };

function selectionOf(text: string, variables: Record<string, unknown> = {}, holder = reader): StreamSelection {
  const document = parse(text);
  return new StreamSelection({ schema, document, operation: getOperationAST(document)! }, variables, holder);
}

const at = new Date('2026-01-02T03:04:05.678Z');
const request = { keyId: '7' as Id, requestId: 'one' };
const place = { position: '12:7', at, request } as const;
function eventOf(type: StoreEvent['type'], noun: NounName, fields: object): StoreEvent {
  return { ...place, type, subject: { noun, row: Object.assign(new nouns[noun].entity(), fields) } as EventSubject };
}

const events: readonly StoreEvent[] = [
  eventOf('pet.updated', 'pet', { id: '1', name: 'a "b"\n', status: 'sold', categoryId: '2' }),
  eventOf('category.created', 'category', { id: '3', name: '\u{1F408}', description: null }),
  eventOf('order.cancelled', 'order', { id: '4', petId: '1', quantity: 2, shipDate: at, complete: false }),
  eventOf('inventory.updated', 'inventory', { petId: '1', quantity: 0, status: 'pending' }),
  { ...place, type: 'store.resync', subject: undefined },
];

const ownFields: Readonly<Record<string, readonly string[]>> = {
  Event: ['id', 'type', 'at', 'nodeId', 'version', '__typename'],
  Node: ['nodeId', '__typename'],
  Pet: ['id', 'name', 'status', 'categoryId', 'nodeId', 'version', '__typename'],
  Category: ['id', 'name', 'description', 'nodeId', 'version'],
  Order: ['id', 'petId', 'quantity', 'shipDate', 'complete', 'version'],
  InventoryItem: ['id', 'quantity', 'status', 'petId', 'nodeId'],
};

const directive = fc.constantFrom(
  '',
  '',
  '@include(if: $yes)',
  '@skip(if: $yes)',
  '@include(if: $no)',
  '@skip(if: true)',
);

const field = (type: string) =>
  fc.tuple(fc.constantFrom(...ownFields[type]!), directive).map(([name, condition]) => {
    // One name for a field of whichever type: two types with one name for two fields aren't valid.
    return `${type.toLowerCase()}_${name}: ${name} ${condition}`;
  });
const plain = (type: string) =>
  fc.constantFrom(...ownFields[type]!.filter((name) => name.startsWith('node') || name.startsWith('__')));
const fieldsOf = (type: string) =>
  fc
    .array(fc.oneof(field(type), type === 'Event' ? field(type) : plain('Node')), { minLength: 1, maxLength: 6 })
    .map((names) => names.join(' '));
const onType = fc
  .constantFrom('Pet', 'Category', 'Order', 'InventoryItem', 'Node')
  .chain((type) =>
    fc.tuple(fieldsOf(type), directive).map(([fields, condition]) => `... on ${type} ${condition} { ${fields} }`),
  );
const object = fc
  .array(fc.oneof(onType, fieldsOf('Node'), fc.constant('...Parts')), { minLength: 1, maxLength: 5 })
  .map((parts) => `object { ${parts.join(' ')} }`);
const ofEvent = fc
  .array(fc.oneof(fieldsOf('Event'), object, fc.constant('...More')), { minLength: 1, maxLength: 5 })
  .map((parts) => parts.join(' '));

it(`writes what graphql-js writes (STREAM_SEED=${seed})`, async () => {
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(
      ofEvent,
      ofEvent,
      fc.array(onType, { minLength: 1, maxLength: 3 }),
      fc.constantFrom(...events),
      async (root, more, parts, event) => {
        const text = `subscription S($yes: Boolean = true, $no: Boolean = false) { changed: events(filter: {}) { type @include(if: $yes) @skip(if: $no) ${root} ...More ...Other } }
        fragment More on Event { ${more.replaceAll('...More', 'id')} } fragment Parts on Node { ${parts.join(' ')} } fragment Other on Event { object { ...Parts } }`;
        const document = parse(text);
        fc.pre(validate(schema, document, [...specifiedRules, OwnFieldsOfPastObjects]).length === 0);
        const variables = { yes: true, no: false };
        const expected = await execute({ schema, document, rootValue: event, variableValues: variables });
        expect(selectionOf(text, variables).textOf(event)).toBe(JSON.stringify(expected));
        compared += 1;
      },
    ),
    { seed, numRuns: 150 },
  );
  expect(compared).toBeGreaterThan(50);
});

it('is the same for documents that select the same in other words', () => {
  const one = selectionOf(
    'subscription A($f: EventFilter) { events(filter: $f) { id object { ... on Pet { name } nodeId } } }',
  );
  const other = selectionOf(
    'fragment F on Pet { ... { name } } subscription($b: Boolean!) { events(after: "1") { id @include(if: $b) type @skip(if: $b) object { ...F nodeId } } }',
    { b: true },
  );
  expect(other.key).toBe(one.key);
  expect(selectionOf('subscription { events { id object { nodeId ... on Pet { name } } } }').key).not.toBe(one.key);
});

const aliases = (count: number, length: number, name: string): string =>
  Array.from({ length: count }, (_, index) => `${'a'.repeat(length)}${index}: ${name}`).join(' ');

it('is refused with 400 and its limit where it would take more than 64 KiB, and takes what fits', () => {
  expect(() => selectionOf(`subscription { events { ${aliases(1, 65_000, 'id')} } }`)).toThrow(
    /65536 are allowed.*aliases/,
  );
  expect(() => selectionOf(`subscription { events { object { ${aliases(1, 65_000, 'nodeId')} } } }`)).toThrow(
    /aliases/,
  );
  expect(() => selectionOf(`subscription { events { object { ${aliases(20, 5, 'nodeId')} } } }`)).toThrow(/aliases/);
  expect(selectionOf(`subscription { events { object { ${aliases(15, 5, 'nodeId')} } } }`).bytes).toBeLessThan(65_536);
});

it('keeps what is selected on all types once: a further noun refuses no selection that fitted', () => {
  const more = extendSchema(schema, parse('type Shelf implements Node { nodeId: ID! }'));
  const text = `subscription { events { object { ${aliases(15, 5, 'nodeId')} ... on Pet { name } } } }`;
  const document = parse(text);
  const wider = new StreamSelection({ schema: more, document, operation: getOperationAST(document)! }, {}, reader);
  expect([wider.bytes, wider.key]).toEqual([selectionOf(text).bytes, selectionOf(text).key]);
  // Written for each type where they come in another order.
  const apart = selectionOf(
    `subscription { events { object { ... on Pet { ...F } a: nodeId ...F } } } fragment F on Node { b: nodeId }`,
  );
  expect(apart.textOf(events[0]!)).toMatch(/"object":{"b":"[^"]+","a":/);
  expect(apart.textOf(events[1]!)).toMatch(/"object":{"a":"[^"]+","b":/);
});

it('takes what its fields take, whatever they are named in the response', () => {
  const [named, other] = ['alias', 'other'].map((name) => selectionOf(`subscription { events { ${name}: id } }`).bytes);
  expect(named).toBe(other);
});

it('the result of an event has 64 KiB at most, and says so in RESULT_TOO_LARGE', () => {
  const withText = (description: string): StoreEvent =>
    eventOf('category.created', 'category', { id: '3', name: 'c', description });
  const selection = selectionOf(
    `subscription { events { object { ... on Category { ${aliases(30, 1, 'description')} } } } }`,
  );
  expect(Buffer.byteLength(selection.textOf(withText('x'.repeat(2_000))))).toBeLessThan(65_536);
  for (const text of ['x'.repeat(2_300), '\u{1F408}'.repeat(600)])
    expect(() => selection.textOf(withText(text))).toThrow(/larger than the 65536 bytes/);
});

it('selects fields without arguments: an event is written without asking for them', () => {
  const types = ['Event', 'Pet', 'Category', 'Order', 'InventoryItem'].map((name) => schema.getType(name)!);
  expect(schema.getRootType(OperationTypeNode.SUBSCRIPTION)!.getFields()['events']!.type.toString()).toBe('Event!');
  for (const type of types)
    if ('getFields' in type)
      for (const each of Object.values(type.getFields()))
        if (ownFields[type.name]!.includes(each.name)) expect([each.name, each.args]).toEqual([each.name, []]);
});
