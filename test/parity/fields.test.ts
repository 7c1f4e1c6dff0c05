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

import { createMaintenanceOrm } from '../../src/database/database.ts';
import { Category } from '../../src/domain/categories/category.entity.ts';
import { InventoryItem } from '../../src/domain/inventory/inventory-item.entity.ts';
import { Order } from '../../src/domain/orders/order.entity.ts';
import { Pet } from '../../src/domain/pets/pet.entity.ts';
import { createSchema } from '../../src/graphql/schema.ts';
import { readDocument, type Schema } from '../../src/rest/openapi/document.ts';
import { startRestApp, type RestApp } from '../rest/rest-app.ts';

interface Noun {
  readonly entity: EntityClass<object>;
  /** Its files in `src/domain` and `src/graphql`, without their roles. */
  readonly files: string;
  /** Its file of the OpenAPI document. */
  readonly document: string;
  readonly url: string;
  /** False when rows are created with those of another noun. */
  readonly isCreatable: boolean;
  /** The mutation that updates a row. */
  readonly update: string;
  /** The OpenAPI schema of an update. */
  readonly changes: string;
  /** The property that names the row in an update. */
  readonly key: string;
  /** Properties that clients don't write. */
  readonly readOnly: readonly string[];
  /** Fields of the GraphQL type that are not properties. */
  readonly onlyInGraphQL: readonly string[];
}

function rowFor(
  entity: EntityClass<object>,
  files: string,
  url: string,
  exceptions: Partial<Noun> = {},
): [string, Noun] {
  const { name } = entity;
  const document = `src/rest/openapi/${files.replace(/\/.*/, '')}.yaml`;
  const usual = { isCreatable: true, update: `update${name}`, changes: `${name}Changes`, key: 'id', readOnly: ['id'] };
  return [name, { entity, files, document, url, onlyInGraphQL: ['nodeId', 'version'], ...usual, ...exceptions }];
}

/** Any other difference between the entity, the GraphQL types and inputs, and the OpenAPI schemas is an error. */
const nouns = [
  rowFor(Pet, 'pets/pet', '/pets'),
  rowFor(Category, 'categories/category', '/categories'),
  rowFor(Order, 'orders/order', '/store/orders'),
  rowFor(InventoryItem, 'inventory/inventory-item', '/inventory', {
    isCreatable: false,
    update: 'updateInventory',
    changes: 'InventoryUpdate',
    key: 'petId',
    readOnly: ['petId', 'status'],
    onlyInGraphQL: ['nodeId', 'id', 'version'],
  }),
];

const metadata = createMaintenanceOrm('postgresql://unused/unused').getMetadata();
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

function implementsNode(name: string): boolean {
  const type = schema.getType(name);
  return isObjectType(type) && type.getInterfaces().some((each) => each.name === 'Node');
}

function inputFields(mutation: string): Readonly<Record<string, { readonly type: GraphQLInputType }>> {
  const type = schema.getType(`${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Input`);
  return isInputObjectType(type) ? type.getFields() : {};
}

it('every resource is compared: each entity with a type in GraphQL or a schema in the OpenAPI document', () => {
  const entities = [...metadata.getAll().values()].map(({ className }) => className);
  const published = entities.filter((name) => name in schemas || implementsNode(name));
  expect(nouns.map(([name]) => name).toSorted()).toEqual(published.toSorted());
});

/** What a file lacks of the fields that it should have, or has beyond them. */
function differences(file: string, there: readonly string[], wanted: readonly string[]): string[] {
  return [
    ...wanted.filter((field) => !there.includes(field)).map((field) => `${file} lacks ${field}`),
    ...there.filter((field) => !wanted.includes(field)).map((field) => `${file} alone has ${field}`),
  ];
}

function serviceFile({ files }: Noun): string {
  return `src/domain/${files.replace('-item', '')}.service.ts`;
}

describe.each(nouns)('%s has the same fields', (name, noun) => {
  const { files, document } = noun;

  it('in its entity, its GraphQL type and its OpenAPI schema', () => {
    const type = schema.getType(name);
    const fields = isObjectType(type) ? Object.values(type.getFields()) : [];
    const leaves = fields.filter((field) => isLeafType(getNamedType(field.type))).map((field) => field.name);
    const properties = propertiesOf(noun);
    expect([
      ...differences(`src/graphql/${files}.type.ts`, leaves, [...properties, ...noun.onlyInGraphQL]),
      ...differences(`${name} in ${document}`, Object.keys(schemaProperties(name)), properties),
    ]).toEqual([]);
  });

  it('in its inputs and its bodies', () => {
    const { changes, update, key, isCreatable } = noun;
    const writable = writableOf(noun);
    const ofSchema = (schemaName: string): string[] =>
      differences(`${schemaName} in ${document}`, Object.keys(schemaProperties(schemaName)), writable);
    const ofInput = (mutation: string, wanted: readonly string[]): string[] =>
      differences(`${mutation}'s in src/graphql/${files}.input.ts`, Object.keys(inputFields(mutation)), wanted);
    expect([
      ...ofSchema(changes),
      ...ofInput(update, [...writable, key, 'ifVersion']),
      ...(isCreatable ? [...ofSchema(`New${name}`), ...ofInput(`create${name}`, writable)] : []),
    ]).toEqual([]);
  });
});

describe.each(nouns)('every field of %s', (typeName, noun) => {
  let app: RestApp;
  const { url: collection, isCreatable, update, changes, key } = noun;

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
    if (!isCreatable) return `${collection}/1`;
    return (await app.ask('POST', collection, required)).headers['location'] as string;
  }

  it('is stored and returned by REST', async () => {
    if (isCreatable) {
      const sent = values(`New${typeName}`);
      const { body } = await app.ask('POST', collection, sent);
      const bodyFile = `src/domain/${noun.files}.entity.ts`;
      expect(differences(bodyFile, Object.keys(body), propertiesOf(noun))).toEqual([]);
      const lost = Object.entries(sent).filter(([property, value]) => body[property] !== value);
      expect(lost.map(([property]) => `create in ${serviceFile(noun)} loses ${property}`)).toEqual([]);
    }
    for (const [property, value] of Object.entries(values(changes))) {
      const url = await fresh();
      const changed = (await app.ask('PATCH', url, { [property]: value })).body;
      if (changed[property] !== value) throw new Error(`update in ${serviceFile(noun)} loses ${property}`);
      expect((await app.ask('GET', url)).body).toMatchObject({ [property]: value });
    }
  });

  it('is stored and returned by GraphQL', async () => {
    const payload = `${typeName.charAt(0).toLowerCase()}${typeName.slice(1)}`;
    const selection = `{ ${payload} { ${propertiesOf(noun).join(' ')} } }`;
    const run = async (mutation: string, input: object): Promise<unknown> => {
      const type = `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Input`;
      const text = `mutation ($input: ${type}!) { ${mutation}(input: $input) ${selection} }`;
      const { data, errors } = await app.graphql(text, { input });
      expect(errors).toEqual([]);
      return data[mutation][payload];
    };
    const written = (mutation: string, from: string): [string, unknown][] =>
      Object.entries(values(from)).map(([property, value]) => {
        const type = getNullableType(inputFields(mutation)[property]?.type as GraphQLInputType);
        if (String(type) === 'ID') return [property, String(value)];
        return [property, isLeafType(type) && 'getValues' in type ? String(value).toUpperCase() : value];
      });
    if (isCreatable) {
      const sent = Object.fromEntries(written(`create${typeName}`, `New${typeName}`));
      expect(await run(`create${typeName}`, sent)).toMatchObject(sent);
    }
    for (const [property, value] of written(update, changes)) {
      const id = (await fresh()).split('/').at(-1);
      expect(await run(update, { [key]: id, [property]: value })).toMatchObject({ [property]: value });
    }
  });
});
