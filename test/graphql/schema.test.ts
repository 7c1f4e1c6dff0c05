import { describe, expect, it } from '@jest/globals';
import { buildSchema, introspectionFromSchema, isObjectType } from 'graphql';

import { change, refer, type NamedRow } from '../../src/domain/named-rows.ts';
import { nouns } from '../../src/domain/nouns.ts';
import { carryOutOnce } from '../../src/graphql/safe-writes/root-mutations.ts';
import { guardRootFields } from '../../src/graphql/scopes.ts';
import { createSchema } from '../../src/graphql/schema.ts';

const schema = createSchema();

/** What is described by nothing, of what introspection shows; those of introspection itself are graphql-js' own. */
function undescribed(node: unknown, path = 'schema'): string[] {
  if (typeof node !== 'object' || node === null) return [];
  const { name, description } = node as { readonly name?: string; readonly description?: string | null };
  if (name?.startsWith('__') === true) return [];
  const own = typeof name === 'string' ? `${path}.${name}` : path;
  const below = Object.values(node).flatMap((each) => undescribed(each, own));
  return 'description' in node && !description ? [own, ...below] : below;
}

describe('the schema', () => {
  it('describes every type, field, argument and enum value', () => {
    expect(undescribed(introspectionFromSchema(schema, { schemaDescription: true }).__schema)).toEqual([]);
  });

  it('has one input and a nullable payload for every mutation, so that a failure stays where it is', () => {
    for (const field of Object.values(schema.getMutationType()!.getFields())) {
      expect(field.args.map((arg) => arg.name)).toEqual(['input']);
      expect(String(field.type)).toBe(`${field.name[0]!.toUpperCase()}${field.name.slice(1)}Payload`);
      expect(String(field.args[0]!.type)).toBe(`${field.name[0]!.toUpperCase()}${field.name.slice(1)}Input!`);
    }
  });

  it('gives every connection the same arguments, all but those for administrators a filter and an order, and lets it be null', () => {
    const connections = Object.values(schema.getTypeMap())
      .filter(isObjectType)
      .flatMap((type) => Object.values(type.getFields()))
      .filter((field) => /Connection!?$/.test(String(field.type)));
    const lists = ['apiKeys', 'events', ...Object.values(nouns).map(({ collection }) => collection)];
    expect(connections.map((field) => field.name)).toEqual(expect.arrayContaining(lists));
    for (const field of connections) {
      expect(String(field.type)).not.toMatch(/!$/);
      const args = field.args.map((arg) => arg.name).toSorted();
      const common = ['after', 'before', 'filter', 'first', 'last'];
      // These are read in one direction.
      if (['events', 'attempts', 'requests'].includes(field.name)) expect(args).toEqual(['after', 'filter', 'first']);
      else if (field.name === 'deprecatedUse') expect(args).toEqual(['after', 'coordinate', 'first']);
      else if (field.name === 'history') expect(args).toEqual(['after', 'first']);
      else if (field.name === 'webhookEndpoints') expect(args).toEqual(['after', 'before', 'first', 'last']);
      else expect(args).toEqual(field.name === 'apiKeys' ? common : [...common, 'orderBy']);
    }
  });
});

describe('the start fails with a mutation', () => {
  const start = (extensions: object): void => {
    const withMove = buildSchema(
      'type Query { a: Int } type Mutation { movePet(input: MoveInput!): Payload } type Payload { a: Int } input MoveInput { petId: ID!, categoryId: ID }',
    );
    const { movePet } = withMove.getMutationType()!.getFields();
    Object.assign(movePet!, { extensions: { scopes: ['write'], ...extensions } });
    carryOutOnce(withMove);
  };
  interface MoveInput {
    readonly petId: string;
    readonly categoryId?: string | null;
  }

  it('that does not say which rows it names', () => {
    expect(() => start({})).toThrow('movePet needs @Writes or @Creates');
  });

  it('that leaves out a row that its input names, or takes it for another noun, or only inserts and locks one', () => {
    const some = ({ petId }: MoveInput): NamedRow[] => [change('pet', petId)];
    expect(() => start({ rowsOf: some })).toThrow('movePet names no category by categoryId.');
    const other = ({ petId, categoryId }: MoveInput): NamedRow[] => [change('pet', petId), refer('order', categoryId)];
    expect(() => start({ rowsOf: other })).toThrow('movePet names no category by categoryId, but order.');
    const all = ({ petId, categoryId }: MoveInput): NamedRow[] => [change('pet', petId), refer('category', categoryId)];
    expect(() => start({ rowsOf: all })).not.toThrow();
    const locking = '@Creates of movePet locks a pet to change it: it needs @Writes.';
    expect(() => start({ rowsOf: all, creates: true })).toThrow(locking);
  });
});

it.each(['Query', 'Mutation', 'Subscription'])(
  'the start fails with a root field of %s that names no scope',
  (type) => {
    const fields = type === 'Query' ? '' : `type ${type} { other: Int }`;
    const incomplete = buildSchema(`type Query { ${type === 'Query' ? 'other' : 'known'}: Int } ${fields}`);
    const { known } = incomplete.getQueryType()!.getFields();
    if (known !== undefined) known.extensions = { scopes: ['read'] };
    expect(() => guardRootFields(incomplete)).toThrow('other needs @NeedsScope.');
  },
);
