// The types of parameters and bodies, generated from the OpenAPI document into a file that is committed:
//   npm run rest-types      writes it
// An int64 is an `Id` to the rest of the program: canonical digits instead of a number that would lose some of them.
import { readFileSync, writeFileSync } from 'node:fs';
import openapiTS, { astToString } from 'openapi-typescript';
import { format, resolveConfig } from 'prettier';
import { factory, SyntaxKind } from 'typescript';
import { parse } from 'yaml';

export const typesFile = 'src/rest/openapi-types.ts';
const header = `// Generated from openapi.yaml by \`npm run rest-types\`: change that instead.
import type { Id } from '../domain/id.ts';

`;

/** The file as it should be. */
export async function generateTypes() {
  const nodes = await openapiTS(
    withoutResponses(parse(readFileSync('src/rest/openapi.yaml', 'utf8'), { merge: true })),
    {
      defaultNonNullable: false,
      transform: ({ type, format: name, nullable }) => {
        if (type !== 'integer' || name !== 'int64') return undefined;
        const id = factory.createTypeReferenceNode('Id');
        return nullable
          ? factory.createUnionTypeNode([
              id,
              factory.createLiteralTypeNode(factory.createToken(SyntaxKind.NullKeyword)),
            ])
          : id;
      },
    },
  );
  const wanted = nodes.filter(({ name }) => ['components', 'operations'].includes(name?.text));
  return format(header + astToString(wanted), { ...(await resolveConfig(typesFile)), filepath: typesFile });
}

/** Handlers answer schemas; of the responses around them and their headers nobody needs a type. */
function withoutResponses({ components: { schemas, parameters }, paths, ...document }) {
  for (const operation of Object.values(paths).flatMap(Object.values)) operation.responses = {};
  return { ...document, components: { schemas, parameters }, paths };
}

if (import.meta.main) writeFileSync(typesFile, await generateTypes());
