import { describe, expect, it } from '@jest/globals';
import { introspectionFromSchema, isObjectType } from 'graphql';

import { nouns } from '../../src/domain/nouns.ts';
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

  it('gives every connection the same arguments, all but keys a filter and an order, and lets it be null', () => {
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
      if (field.name === 'events') expect(args).toEqual(['after', 'filter', 'first']);
      else if (field.name === 'history') expect(args).toEqual(['after', 'first']);
      else expect(args).toEqual(field.name === 'apiKeys' ? common : [...common, 'orderBy']);
    }
  });
});
