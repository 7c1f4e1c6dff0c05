import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { EntityClass } from '@mikro-orm/core';
import {
  isInputObjectType,
  isLeafType,
  isObjectType,
  type GraphQLInputType,
  getNamedType,
  getNullableType,
} from 'graphql';

import { createPatientOrm } from '../../src/database/database.ts';
import { Category } from '../../src/domain/categories/category.entity.ts';
import { InventoryItem } from '../../src/domain/inventory/inventory-item.entity.ts';
import { Order } from '../../src/domain/orders/order.entity.ts';
import { Pet } from '../../src/domain/pets/pet.entity.ts';
import { createSchema } from '../../src/graphql/schema.ts';
import { readDocument, type Schema } from '../../src/rest/document.ts';
import { startRestApp, type RestApp } from '../rest/rest-app.ts';

interface Noun {
  readonly entity: EntityClass<object>;
  /** The schemas of the OpenAPI document, and where the resource is. */
  readonly rest: { readonly create?: string; readonly changes: string; readonly url: string };
  /** The names of the mutations; those of the types are made of them. */
  readonly graphql: { readonly create?: string; readonly update: string; readonly payload: string };
  /** What names the row in an update. */
  readonly key: string;
  /** Properties that no client writes. */
  readonly readOnly: readonly string[];
  /** Fields of the GraphQL type that are not properties. */
  readonly onlyInGraphQL: readonly string[];
}

/** All that differs between the entity, the GraphQL types and inputs, and the OpenAPI schemas is an exception that stands here. */
const nouns: readonly [string, Noun][] = [
  [
    'Pet',
    {
      entity: Pet,
      rest: { create: 'NewPet', changes: 'PetChanges', url: '/pets' },
      graphql: { create: 'createPet', update: 'updatePet', payload: 'pet' },
      key: 'id',
      readOnly: ['id'],
      onlyInGraphQL: ['nodeId'],
    },
  ],
  [
    'Category',
    {
      entity: Category,
      rest: { create: 'NewCategory', changes: 'CategoryChanges', url: '/categories' },
      graphql: { create: 'createCategory', update: 'updateCategory', payload: 'category' },
      key: 'id',
      readOnly: ['id'],
      onlyInGraphQL: ['nodeId'],
    },
  ],
  [
    'Order',
    {
      entity: Order,
      rest: { create: 'NewOrder', changes: 'OrderChanges', url: '/store/orders' },
      graphql: { create: 'createOrder', update: 'updateOrder', payload: 'order' },
      key: 'id',
      readOnly: ['id'],
      onlyInGraphQL: ['nodeId'],
    },
  ],
  [
    'InventoryItem',
    {
      entity: InventoryItem,
      // Created with its pet.
      rest: { changes: 'InventoryUpdate', url: '/inventory' },
      graphql: { update: 'updateInventory', payload: 'inventoryItem' },
      key: 'petId',
      readOnly: ['petId', 'status'],
      onlyInGraphQL: ['nodeId', 'id'],
    },
  ],
];

const metadata = createPatientOrm('postgresql://unused/unused').getMetadata();
const schema = createSchema();
const schemas = (readDocument()['components'] as { readonly schemas: Readonly<Record<string, Schema>> }).schemas;

function propertiesOf({ entity }: Noun): string[] {
  return Object.keys(metadata.get(entity).properties).toSorted();
}

function writableOf(noun: Noun): string[] {
  return propertiesOf(noun).filter((property) => !noun.readOnly.includes(property));
}

/** The properties of a schema, with those that it takes from others. */
function schemaProperties(name: string): Readonly<Record<string, Schema>> {
  const { allOf = [], properties = {}, $ref } = schemas[name] as Schema & { allOf?: Schema[] };
  const parts = [...allOf, ...(typeof $ref === 'string' ? [{ $ref }] : [])].map((part) =>
    typeof part['$ref'] === 'string' ? schemaProperties(nameOf(part['$ref'])) : part.properties,
  );
  return Object.assign({}, ...parts, properties) as Readonly<Record<string, Schema>>;
}

function nameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}

function inputFields(mutation: string): Readonly<Record<string, { readonly type: GraphQLInputType }>> {
  const type = schema.getType(`${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Input`);
  return isInputObjectType(type) ? type.getFields() : {};
}

describe.each(nouns)('%s has the same fields', (name, noun) => {
  it('in its entity, its GraphQL type and its OpenAPI schema', () => {
    const type = schema.getType(name);
    const fields = isObjectType(type) ? Object.values(type.getFields()) : [];
    const leaves = fields.filter((field) => isLeafType(getNamedType(field.type))).map((field) => field.name);
    expect(leaves.toSorted()).toEqual([...propertiesOf(noun), ...noun.onlyInGraphQL].toSorted());
    expect(Object.keys(schemaProperties(name)).toSorted()).toEqual(propertiesOf(noun));
  });

  it('in its inputs and its bodies', () => {
    const { rest, graphql, key } = noun;
    const writable = writableOf(noun);
    expect(Object.keys(schemaProperties(rest.changes)).toSorted()).toEqual(writable);
    expect(Object.keys(inputFields(graphql.update)).toSorted()).toEqual([...writable, key].toSorted());
    if (rest.create === undefined || graphql.create === undefined) return;
    expect(Object.keys(schemaProperties(rest.create)).toSorted()).toEqual(writable);
    expect(Object.keys(inputFields(graphql.create)).toSorted()).toEqual(writable);
  });
});

describe.each(nouns)('every field of %s', (_name, noun) => {
  let app: RestApp;
  const { rest, graphql, key } = noun;

  beforeAll(async () => {
    app = await startRestApp();
    for (const name of ['First', 'Second']) await app.pet({ name });
  });

  afterAll(() => app.close());

  /** The document's examples, but for what names another row and for what may be the default. */
  function values(schemaName: string): Record<string, unknown> {
    const isReference = (property: string): boolean => property.endsWith('Id');
    return Object.fromEntries(
      Object.entries(schemaProperties(schemaName)).map(([property, { $ref, type, example }]) => {
        const { enum: choices } = (typeof $ref === 'string' ? schemas[nameOf($ref)] : {}) as { enum?: unknown[] };
        if (isReference(property)) return [property, 2];
        return [property, choices?.at(-1) ?? (type === 'boolean' ? true : example)];
      }),
    );
  }

  const required = { name: 'Fresh', categoryId: 1 };

  async function fresh(): Promise<string> {
    if (rest.create === undefined) return `${rest.url}/1`;
    return (await app.ask('POST', rest.url, required)).headers['location'] as string;
  }

  it('is kept and answered by REST', async () => {
    if (rest.create !== undefined) {
      const sent = values(rest.create);
      const { body } = await app.ask('POST', rest.url, sent);
      expect(body).toMatchObject(sent);
      expect(Object.keys(body).toSorted()).toEqual(propertiesOf(noun));
    }
    for (const [property, value] of Object.entries(values(rest.changes))) {
      const url = await fresh();
      expect((await app.ask('PATCH', url, { [property]: value })).body).toMatchObject({ [property]: value });
      expect((await app.ask('GET', url)).body).toMatchObject({ [property]: value });
    }
  });

  it('is kept and answered by GraphQL', async () => {
    const selection = `{ ${graphql.payload} { ${propertiesOf(noun).join(' ')} } }`;
    const run = async (mutation: string, input: object): Promise<unknown> => {
      const type = `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Input`;
      const text = `mutation ($input: ${type}!) { ${mutation}(input: $input) ${selection} }`;
      const { data, errors } = await app.graphql(text, { input });
      expect(errors).toEqual([]);
      return data[mutation][graphql.payload];
    };
    const written = (mutation: string, from: string): [string, unknown][] =>
      Object.entries(values(from)).map(([property, value]) => {
        const type = getNullableType(inputFields(mutation)[property]?.type as GraphQLInputType);
        if (String(type) === 'ID') return [property, String(value)];
        return [property, isLeafType(type) && 'getValues' in type ? String(value).toUpperCase() : value];
      });
    if (graphql.create !== undefined && rest.create !== undefined) {
      const sent = Object.fromEntries(written(graphql.create, rest.create));
      expect(await run(graphql.create, sent)).toMatchObject(sent);
    }
    for (const [property, value] of written(graphql.update, rest.changes)) {
      const id = (await fresh()).split('/').at(-1);
      expect(await run(graphql.update, { [key]: id, [property]: value })).toMatchObject({ [property]: value });
    }
  });
});
