// Writes the types that the handlers use of the OpenAPI contract: npm run rest-types
import { readFileSync, writeFileSync } from 'node:fs';
import openapiTS, { astToString } from 'openapi-typescript';
import { format, resolveConfig } from 'prettier';
import { factory, SyntaxKind } from 'typescript';
import { bundleContract } from './openapi.mjs';

export const file = 'src/rest/openapi/types.ts';

const header = `// Generated from src/rest/openapi/ by \`npm run rest-types\`: change that instead.
import type { Position } from '../../domain/cursor.ts';
import type { EventCursor } from '../../domain/events/event.ts';
import type { Id } from '../../domain/id.ts';

`;

/** True when the types aren't those of the contract. */
export async function areStale() {
  return readFileSync(file, 'utf8') !== (await typesOfHandlers());
}

/** Parameters and bodies. An int64 is an `Id` to the program: canonical digits, exact. Cursors are decoded. */
async function typesOfHandlers() {
  const nodes = await openapiTS(onlyStructure(await bundleContract()), {
    defaultNonNullable: false,
    transform: ({ type, format: name, nullable }) => {
      if (name === 'events-cursor') return factory.createTypeReferenceNode('EventCursor');
      if (name?.endsWith('-cursor')) return factory.createTypeReferenceNode('Position');
      if (type !== 'integer' || name !== 'int64') return undefined;
      const id = factory.createTypeReferenceNode('Id');
      return nullable
        ? factory.createUnionTypeNode([id, factory.createLiteralTypeNode(factory.createToken(SyntaxKind.NullKeyword))])
        : id;
    },
  });
  const wanted = nodes.filter(({ name }) => ['components', 'operations'].includes(name?.text));
  return format(header + astToString(wanted).replaceAll(unused, '').replaceAll(emptied, ''), {
    ...(await resolveConfig(file)),
    filepath: file,
  });
}

/** What an operation hasn't got, and comments. */
const unused = /^ *(?:\w+\??: never;|\/\*\* .* \*\/)\n/gm;
/** What has nothing then. */
const emptied = /^ *parameters: \{\s*\};\n/gm;

/**
 * Handlers return schemas, make no errors and see no headers, so these need no types, and one media type of a body is
 * enough. What is said in words is in the contract.
 */
function onlyStructure({ components: { schemas: all, parameters }, paths, ...document }) {
  const { Error: _error, Problem: _problem, ...schemas } = all;
  const isHeader = ({ $ref = '/', in: place }) => (place ?? parameters[$ref.split('/').at(-1)]?.in) === 'header';
  for (const operation of Object.values(paths).flatMap(Object.values)) {
    operation.responses = {};
    delete operation.requestBody?.content['application/merge-patch+json'];
    operation.parameters = operation.parameters?.filter((parameter) => !isHeader(parameter)) ?? [];
  }
  return withoutWords({ ...document, components: { schemas, parameters }, paths });
}

const words = new Set(['description', 'summary', 'example', 'minimum', 'maximum', 'minLength', 'maxLength']);

function withoutWords(node) {
  if (Array.isArray(node)) return node.map(withoutWords);
  if (typeof node !== 'object' || node === null) return node;
  // A property can have such a name, too: its schema stays.
  const isText = ([key, value]) => words.has(key) && (typeof value !== 'object' || Array.isArray(value));
  return Object.fromEntries(
    Object.entries(node)
      .filter((entry) => !isText(entry))
      .map(([key, value]) => [key, withoutWords(value)]),
  );
}

if (import.meta.main) writeFileSync(file, await typesOfHandlers());
