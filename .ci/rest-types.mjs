// The types that are generated from the OpenAPI document into files that are committed:
//   npm run rest-types      writes them
import { readFileSync, writeFileSync } from 'node:fs';
import openapiTS, { astToString } from 'openapi-typescript';
import { format, resolveConfig } from 'prettier';
import { factory, SyntaxKind } from 'typescript';
import { readDocument } from '../src/rest/document.ts';
import { publishedDocument } from '../src/pages/reference/published-document.ts';

const header = '// Generated from openapi.yaml by `npm run rest-types`: change that instead.\n';

/** The files, and what should be in them. */
const files = {
  'src/rest/openapi-types.ts': typesOfHandlers,
  'test/contract/client-types.ts': typesOfClients,
};

/** The files that are not as they should be, with their text. */
export async function staleFiles() {
  const texts = Object.entries(files).map(async ([file, generate]) => {
    const text = await format(header + (await generate()), { ...(await resolveConfig(file)), filepath: file });
    return { file, text };
  });
  return (await Promise.all(texts)).filter(({ file, text }) => readIfThere(file) !== text);
}

/** Parameters and bodies. An int64 is an `Id` to the program: canonical digits instead of a number that would lose some of them. Cursors are decoded. */
async function typesOfHandlers() {
  const nodes = await openapiTS(withoutResponses(structuredClone(readDocument())), {
    defaultNonNullable: false,
    transform: ({ type, format: name, nullable }) => {
      if (name?.endsWith('-cursor')) return factory.createTypeReferenceNode('Position');
      if (type !== 'integer' || name !== 'int64') return undefined;
      const id = factory.createTypeReferenceNode('Id');
      return nullable
        ? factory.createUnionTypeNode([id, factory.createLiteralTypeNode(factory.createToken(SyntaxKind.NullKeyword))])
        : id;
    },
  });
  const wanted = nodes.filter(({ name }) => ['components', 'operations'].includes(name?.text));
  return `import type { Position } from '../domain/cursor.ts';\nimport type { Id } from '../domain/id.ts';\n\n${astToString(wanted)}`;
}

/** What anybody's client generates from the document that is published. */
async function typesOfClients() {
  const nodes = await openapiTS(structuredClone(publishedDocument(readDocument(), '')));
  const wanted = nodes.filter(({ name }) => ['paths', 'components', 'operations'].includes(name?.text));
  return astToString(wanted).replaceAll(/^export interface (?!paths)/gm, 'interface ');
}

/** Handlers answer schemas; of the responses around them and their headers nobody needs a type. */
function withoutResponses({ components: { schemas, parameters }, paths, ...document }) {
  for (const operation of Object.values(paths).flatMap(Object.values)) operation.responses = {};
  return { ...document, components: { schemas, parameters }, paths };
}

function readIfThere(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

if (import.meta.main) for (const { file, text } of await staleFiles()) writeFileSync(file, text);
