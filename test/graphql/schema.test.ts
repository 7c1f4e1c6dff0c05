import { describe, expect, it } from '@jest/globals';
import { isEnumType, isInputObjectType, isInterfaceType, isObjectType, isSpecifiedScalarType } from 'graphql';

import { nouns } from '../../src/domain/nouns.ts';
import { createSchema } from '../../src/graphql/schema.ts';

const schema = createSchema();
const ownTypes = Object.values(schema.getTypeMap()).filter(
  (type) => !type.name.startsWith('__') && !isSpecifiedScalarType(type),
);

describe('the schema', () => {
  it('describes every type, field, argument and enum value', () => {
    const undescribed: string[] = [];
    const note = (name: string, description: string | null | undefined): void => {
      if (!description) undescribed.push(name);
    };
    for (const type of ownTypes) {
      note(type.name, type.description);
      if (isEnumType(type)) {
        for (const value of type.getValues()) note(`${type.name}.${value.name}`, value.description);
      }
      if (isObjectType(type) || isInterfaceType(type)) {
        for (const field of Object.values(type.getFields())) {
          note(`${type.name}.${field.name}`, field.description);
          for (const arg of field.args) note(`${type.name}.${field.name}(${arg.name})`, arg.description);
        }
      }
      if (isInputObjectType(type)) {
        for (const field of Object.values(type.getFields())) note(`${type.name}.${field.name}`, field.description);
      }
    }
    note('schema', schema.description);
    expect(undescribed).toEqual([]);
  });

  it('has one input and a nullable payload for every mutation, so that a failure stays where it is', () => {
    for (const field of Object.values(schema.getMutationType()!.getFields())) {
      expect(field.args.map((arg) => arg.name)).toEqual(['input']);
      expect(String(field.type)).toBe(`${field.name[0]!.toUpperCase()}${field.name.slice(1)}Payload`);
      expect(String(field.args[0]!.type)).toBe(`${field.name[0]!.toUpperCase()}${field.name.slice(1)}Input!`);
    }
  });

  it('gives every connection the same arguments, all but keys a filter and an order, and lets it be null', () => {
    const connections = ownTypes
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
