// Writes the types that the handlers use of the OpenAPI contract: npm run rest-types
import { readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { bundleContract } from './openapi.mjs';

export const file = 'src/rest/openapi/types.ts';

const header = `// Generated from src/rest/openapi/ by \`npm run rest-types\`: change that instead.
import type { ListPosition } from '../../domain/cursor.ts';
import type { EventCursor } from '../../domain/events/event.ts';
import type { Id } from '../../domain/id.ts';
`;

/** Handlers make no errors. */
const unusedSchemas = new Set(['Error', 'Problem']);

/** True when the types aren't those of the contract. */
export async function areStale() {
  return readFileSync(file, 'utf8') !== (await typesOfHandlers());
}

/** Schemas, and the parameters and the body of each operation's request. */
async function typesOfHandlers() {
  const { components, paths } = await bundleContract();
  const schemas = Object.entries(components.schemas).filter(([name]) => !unusedSchemas.has(name));
  const operations = Object.values(paths).flatMap(Object.values);
  const text = `${header}
    export interface Schemas {${schemas.map(([name, schema]) => `${name}: ${typeOf(schema)};`).join('\n')}}

    /** The parameters and the body of each operation's request. */
    export interface Operations {${operations.map((each) => typeOfOperation(each, components)).join('\n')}}`;
  return format(text, { ...(await resolveConfig(file)), filepath: file });
}

/** One media type of a body is enough. Parameters of the path are texts until a service has read them. */
function typeOfOperation({ operationId, parameters = [], requestBody }, components) {
  const known = parameters.map(({ $ref, ...own }) => ($ref === undefined ? own : components.parameters[nameIn($ref)]));
  const members = (place, optional, typeOfMember) => {
    const found = known.filter((parameter) => parameter.in === place);
    const texts = found.map(({ name, schema }) => `${name}${optional}: ${typeOfMember(schema)}`);
    return found.length === 0 ? 'object' : `{ ${texts.join('; ')} }`;
  };
  const body = requestBody === undefined ? 'undefined' : typeOf(requestBody.content['application/json'].schema);
  const path = members('path', '', () => 'string');
  return `${operationId}: { path: ${path}; query: ${members('query', '?', typeOf)}; body: ${body} };`;
}

/** An int64 is an `Id` to the program: canonical digits, exact. Cursors are decoded. */
function typeOf({ nullable, ...schema }) {
  return nullable === true ? `${typeOf(schema)} | null` : typeOfPresent(schema);
}

function typeOfPresent({ $ref, type, format: name, enum: choices, items, properties, required = [], ...schema }) {
  const { allOf, anyOf } = schema;
  if ($ref !== undefined) return `Schemas['${nameIn($ref)}']`;
  if (allOf !== undefined) return allOf.map(typeOf).join(' & ');
  if (anyOf !== undefined) return anyOf.map(typeOf).join(' | ');
  if (choices !== undefined) return choices.map((choice) => `'${choice}'`).join(' | ');
  if (name === 'int64') return 'Id';
  if (name === 'events-cursor') return 'EventCursor';
  if (name?.endsWith('-cursor')) return 'ListPosition';
  switch (type) {
    case 'array':
      return `(${typeOf(items)})[]`;
    case 'object':
      return `{${Object.entries(properties)
        .map(([key, schema]) => `${key}${required.includes(key) ? '' : '?'}: ${typeOf(schema)}`)
        .join('; ')}}`;
    case 'integer':
      return 'number';
    case 'string':
    case 'boolean':
      return type;
    default:
      throw new Error(`No type is known for a schema of the type ${type}: ${schema.description}`);
  }
}

function nameIn(reference) {
  return reference.split('/').at(-1);
}

if (import.meta.main) writeFileSync(file, await typesOfHandlers());
