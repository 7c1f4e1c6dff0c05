import { describe, expect, it } from '@jest/globals';
import type { EntityProperty } from '@mikro-orm/core';
import {
  isInputObjectType,
  isLeafType,
  isNullableType,
  isObjectType,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
  getNamedType,
  getNullableType,
} from 'graphql';

import { createMaintenanceOrm } from '../../src/database/database.ts';
import { operator } from '../../src/domain/access/principal.ts';
import { nouns, referencesOf } from '../../src/domain/nouns.ts';
import type { Pet } from '../../src/domain/pets/pet.entity.ts';
import { Services } from '../../src/domain/services.ts';
import type { Stores } from '../../src/domain/stores.ts';
import { createSchema } from '../../src/graphql/schema.ts';
import type { FieldExtensions } from '../../src/platform/executor/index.ts';
import type { Rule } from '../../src/domain/input.ts';
import type { WrittenFields } from '../../src/domain/written-fields.ts';
import { textFormats } from '../../src/rest/domain-rules.ts';
import { readDocument, readOperations, type Schema } from '../../src/rest/openapi/document.ts';
import { makeRows, testedNouns, type TestedNoun } from '../support/nouns/nouns.ts';
import { differences } from './differences.ts';
import { startTestApp } from '../support/test-app.ts';

const app = await startTestApp();
for (const { noun } of testedNouns) await makeRows(app, noun);

const metadata = createMaintenanceOrm('postgresql://unused/unused').getMetadata();
const schema = createSchema();
const services = new Services({} as Stores, operator);
const schemas = (readDocument()['components'] as { readonly schemas: Readonly<Record<string, Schema>> }).schemas;

function propertiesOf({ noun }: TestedNoun): EntityProperty[] {
  const { properties } = metadata.get(nouns[noun].entity as typeof Pet);
  return Object.values(properties);
}

function namesOf(noun: TestedNoun): string[] {
  return propertiesOf(noun).map(({ name }) => name);
}

function keyOf(noun: TestedNoun): string {
  return propertiesOf(noun).find(({ primary }) => primary)!.name;
}

interface Update {
  readonly requestBody: { readonly content: Readonly<Record<string, { readonly schema: { readonly $ref: string } }>> };
}

/** The schema of an update's body. */
function changesOf({ path }: TestedNoun): string {
  const [, item] = Object.entries(readDocument().paths).find(([each]) => each.startsWith(`${path}/`))!;
  const { requestBody } = item['patch'] as object as Update;
  return nameOf(requestBody.content['application/json']!.schema.$ref);
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

function isRelation({ extensions }: GraphQLField<unknown, unknown>): boolean {
  return (extensions as FieldExtensions).toOne !== undefined;
}

function isCreatable({ typeName }: TestedNoun): boolean {
  return `New${typeName}` in schemas;
}

function inputFields(mutation: string): Readonly<Record<string, Pick<GraphQLInputField, 'type' | 'extensions'>>> {
  const type = schema.getType(`${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Input`);
  return isInputObjectType(type) ? type.getFields() : {};
}

/** A text's rule is that of its format, a number's has the same bounds; others have no rules of their own. */
function appliesSameRule({ type, format, minimum, maximum, ...more }: Schema, rule: Rule<never, unknown>): boolean {
  if (type === 'string') return 'enum' in more || rule === textFormats[String(format)]?.rule;
  if (minimum === undefined || maximum === undefined) return type !== 'integer' || format === 'int64';
  const isRefused = (value: number): boolean => {
    let refusals = 0;
    rule(value as never, () => (refusals += 1));
    return refusals > 0;
  };
  return [minimum - 1, minimum, maximum, maximum + 1].map(isRefused).join() === 'true,false,false,true';
}

/** Of the longest value as JSON text: a character takes at most four bytes, escaped or not. */
function longestBytes({ $ref, type, format, maxLength, enum: choices }: Schema): number {
  if (typeof $ref === 'string') return longestBytes(schemas[nameOf($ref)] as Schema);
  if (Array.isArray(choices)) return Math.max(...choices.map((choice) => JSON.stringify(choice).length));
  if (type === 'boolean') return 'false'.length;
  if (type === 'integer') return String(format === 'int64' ? -(2n ** 63n) : -(2 ** 31)).length;
  if (format === 'date-time') return '"9999-12-31T23:59:59.999Z"'.length;
  if (typeof maxLength === 'number') return '""'.length + 4 * maxLength;
  throw new Error(`${type} ${format} has no longest value.`);
}

describe.each(testedNouns)('$typeName has the same fields', (tested) => {
  const { noun, typeName, collection, list } = tested;
  const document = `src/rest/openapi/${collection}.yaml`;
  const graphql = `src/graphql/${collection}`;
  const entity = `the entity in src/domain/${collection}`;
  const properties = namesOf(tested);

  it('in its entity, its GraphQL type and its OpenAPI schema', () => {
    const type = schema.getType(typeName);
    const fields = isObjectType(type) ? Object.values(type.getFields()) : [];
    const leaves = fields.filter((field) => isLeafType(getNamedType(field.type))).map((field) => field.name);
    const interfaces = isObjectType(type) ? type.getInterfaces().map(({ name }) => name) : [];
    expect([
      ...differences(`what ${typeName} in ${graphql} implements`, interfaces, 'every noun', ['Node']),
      ...differences(`${typeName} in ${graphql}`, leaves, entity, [
        ...new Set([...properties, 'id', 'nodeId', 'version']),
      ]),
      ...differences(`${typeName} in ${document}`, Object.keys(schemaProperties(typeName)), entity, properties),
      ...propertiesOf(tested)
        .filter(({ name, nullable = false }) =>
          fields.some((field) => field.name === name && isNullableType(field.type) !== nullable),
        )
        .map(({ name }) => `${name} of ${typeName} in ${graphql} has another nullable than ${entity}`),
    ]).toEqual([]);
  });

  it('in its inputs and its bodies', () => {
    const writable = propertiesOf(tested).flatMap(({ name, primary, persist }) =>
      primary || persist === false ? [] : [name],
    );
    const ofSchema = (name: string): string[] =>
      differences(`${name} in ${document}`, Object.keys(schemaProperties(name)), entity, writable);
    const ofInput = (mutation: string, wanted: readonly string[]): string[] =>
      differences(`${mutation}'s input in ${graphql}`, Object.keys(inputFields(mutation)), entity, wanted);
    expect([
      ...ofSchema(changesOf(tested)),
      ...ofInput(`update${list}`, [...writable, keyOf(tested), 'ifVersion']),
      ...(isCreatable(tested) ? [...ofSchema(`New${typeName}`), ...ofInput(`create${typeName}`, writable)] : []),
    ]).toEqual([]);
  });

  it('whose longest row takes the bytes that are reserved for it', () => {
    const members = Object.entries(schemaProperties(typeName));
    const bytes = members.reduce((sum, [name, value]) => sum + `"${name}":,`.length + longestBytes(value), 1);
    const problem = `maxBytes of ${noun} in src/domain/nouns.ts: its longest row takes ${bytes} bytes.`;
    const { maxBytes } = nouns[noun];
    expect(maxBytes >= bytes && maxBytes < 1.5 * bytes ? [] : [problem]).toEqual([]);
  });

  it('with the same rules in its service and in its bodies', () => {
    const { fields }: { readonly fields: WrittenFields } = services[nouns[noun].collection].kind;
    const service = `src/domain/${collection}/${noun}.service.ts`;
    const bodies = readOperations().filter(({ path, body }) => path.split('/{')[0] === tested.path && body);
    const problems = bodies.flatMap(({ method, body }) =>
      Object.entries(body?.schema.properties ?? {}).flatMap(([property, documented]) => {
        const field = fields[property];
        if (field === undefined) return [];
        const isNullable = method === 'PATCH' && field.unset === null;
        return [
          ...(appliesSameRule(documented, field.rule)
            ? []
            : [`${property} has another rule in ${service} than its format`]),
          ...((documented.nullable ?? false) === isNullable ? [] : [`nullable of ${property}, as ${service} has it`]),
        ].map((problem) => `${document}: ${problem}`);
      }),
    );
    expect(problems).toEqual([]);
  });

  it('with the same required fields and defaults in its service and in its inputs, by which repeated requests are known', () => {
    const { fields }: { readonly fields: WrittenFields } = services[nouns[noun].collection].kind;
    const [created, changed] = [inputFields(`create${typeName}`), inputFields(`update${list}`)];
    const problems = Object.entries(fields).flatMap(([name, { unset }]) => {
      const [ofNew, ofChange] = [created[name], changed[name]];
      const isDefault = ofNew === undefined || ofNew.extensions['defaultsTo'] === (unset ?? undefined);
      const isRemoved = (ofChange?.extensions['nullRemoves'] === true) === (unset === null);
      const isRequired = ofNew === undefined || isNullableType(ofNew.type) === (unset !== undefined);
      return [
        ...(isDefault ? [] : [`@DefaultsTo(${JSON.stringify(unset ?? undefined)}) of Create${typeName}Input.${name}`]),
        ...(isRemoved ? [] : [`@NullRemoves() of Update${list}Input.${name}`]),
        ...(isRequired ? [] : [`nullable of Create${typeName}Input.${name}`]),
      ].map((problem) => `${graphql}: ${problem}, as in src/domain/${collection}/${noun}.service.ts`);
    });
    expect(problems).toEqual([]);
  });

  it('in its references to other nouns, whose rows are locked by them and are relations in GraphQL', () => {
    const references = propertiesOf(tested).filter(({ targetMeta }) => targetMeta !== undefined);
    const names = references.map(({ name }) => name);
    const type = schema.getType(typeName);
    const relations = isObjectType(type) ? Object.values(type.getFields()).filter(isRelation) : [];
    const missing = names.filter((property) => relations.every(({ name }) => `${name}Id` !== property));
    expect([
      ...differences(`references of ${noun} in src/domain/nouns.ts`, Object.keys(referencesOf(noun)), entity, names),
      ...missing.map((property) => `the resolver in ${graphql} lacks the relation of ${property}, which ${entity} has`),
    ]).toEqual([]);
  });
});

describe.each(testedNouns)('every field of $typeName', (tested) => {
  const { noun, typeName, collection, path, list, rows } = tested;
  const service = `src/domain/${collection}/${noun}.service.ts`;
  const [update, changes] = [`update${list}`, changesOf(tested)];

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

  async function fresh(): Promise<string> {
    if (!isCreatable(tested)) return `${path}/1`;
    const { text, headers } = await app.ask('POST', path, rows.at(-1)!.body);
    if (headers['location'] === undefined) throw new Error(`The last of the rows in ${tested.file} got ${text}`);
    return headers['location'];
  }

  it('is stored and returned by REST', async () => {
    if (isCreatable(tested)) {
      const sent = values(`New${typeName}`);
      const { status, body, text } = await app.ask('POST', path, sent);
      if (status !== 201) throw new Error(`The examples of New${typeName} in the OpenAPI document got ${text}`);
      expect(
        differences(`the representation in src/domain/${collection}`, Object.keys(body), 'the entity', namesOf(tested)),
      ).toEqual([]);
      const lost = Object.entries(sent).filter(([property, value]) => body[property] !== value);
      expect(lost.map(([property]) => `create in ${service} loses ${property}`)).toEqual([]);
    }
    for (const [property, value] of Object.entries(values(changes))) {
      const url = await fresh();
      const changed = (await app.ask('PATCH', url, { [property]: value })).body;
      if (changed[property] !== value) throw new Error(`update in ${service} loses ${property}`);
      expect((await app.ask('GET', url)).body).toMatchObject({ [property]: value });
    }
  });

  it('is stored and returned by GraphQL', async () => {
    const payload = `${typeName.charAt(0).toLowerCase()}${typeName.slice(1)}`;
    const selection = `{ ${payload} { ${namesOf(tested).join(' ')} } }`;
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
    if (isCreatable(tested)) {
      const sent = Object.fromEntries(written(`create${typeName}`, `New${typeName}`));
      expect(await run(`create${typeName}`, sent)).toMatchObject(sent);
    }
    for (const [property, value] of written(update, changes)) {
      const id = (await fresh()).split('/').at(-1);
      expect(await run(update, { [keyOf(tested)]: id, [property]: value })).toMatchObject({ [property]: value });
    }
  });
});
