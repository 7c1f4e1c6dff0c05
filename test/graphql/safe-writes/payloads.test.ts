import { expect, it } from '@jest/globals';
import { buildSchema, type GraphQLField } from 'graphql';

import { DateTimeScalar } from '../../../src/graphql/date-time.scalar.ts';
import { payloadCodec } from '../../../src/graphql/safe-writes/stored-payload.ts';

const schema = buildSchema(`
  scalar DateTime interface Node { nodeId: ID! }
  type Pet { id: ID! categoryId: ID! names: [String!]! category: Category } type Category { id: ID! }
  type Order { id: ID! at: DateTime pet: Pet } type Totals { count: Int! latest: Order }
  type Sale { pet: Pet! orders: [Order!]! gone: [ID!] totals: Totals! note: String }
  type Any { node: Node } type Resolved { count: Int }
  type Query { sell: Sale any: Any resolved: Resolved }`);
const fieldOf = (type: string, name: string) =>
  (schema.getType(type) as unknown as { getFields(): Record<string, GraphQLField<unknown, unknown>> }).getFields()[
    name
  ]!;
fieldOf('Order', 'at').type = DateTimeScalar;
for (const [type, name] of [
  ['Pet', 'category'],
  ['Order', 'pet'],
  ['Resolved', 'count'],
] as const)
  fieldOf(type, name).resolve = () => null;

/** A row is an instance of its entity. */
function row(members: object): object {
  return Object.assign(Object.create({}) as object, members);
}

it('a payload of rows, lists and objects is replayed as at first, without what is resolved', () => {
  const { encode, decode } = payloadCodec(fieldOf('Query', 'sell'));
  const at = new Date('2026-01-02T03:04:05.678Z');
  const order = (id: string) => ({ id, at, petId: '7' });
  const pet = { id: '7', categoryId: '3', names: ['Rex', 'Bo'] };
  const payload = { pet, orders: [order('1'), order('2')], gone: ['9'], totals: { count: 2, latest: order('2') } };
  const first = {
    ...payload,
    pet: row({ ...pet, category: row({ id: '3' }) }),
    orders: payload.orders.map((each) => row({ ...each, pet: row(pet) })),
  };
  const stored = JSON.parse(JSON.stringify(encode(first))) as Parameters<typeof decode>[0];
  expect(JSON.stringify(stored)).not.toContain('"category"');
  expect(decode(stored)).toEqual({ ...payload, note: undefined });
  for (const broken of [
    { ...stored, orders: [{ id: 'x' }] },
    { ...stored, orders: {} },
    { ...stored, totals: {} },
  ])
    expect(() => decode(broken)).toThrow(TypeError);
});

it('a payload that could not be replayed is named at the start', () => {
  for (const name of ['any', 'resolved'])
    expect(() => payloadCodec(fieldOf('Query', name))).toThrow(`of the payload of ${name} has to be a property`);
});
