import { GraphQLEnumType, GraphQLSchema } from 'graphql';

import { graphqlCodes } from '../http/error-codes.ts';

/** Adds `enum ErrorCode`, which no field has: clients generate their types from it. */
export function addErrorCodes(schema: GraphQLSchema): GraphQLSchema {
  const type = new GraphQLEnumType({
    name: 'ErrorCode',
    description: 'What `extensions.code` of an error may be. Further codes may be added.',
    values: Object.fromEntries(
      graphqlCodes.map(({ code, status, meaning }) => [code, { description: sentenceOf(meaning, status) }]),
    ),
  });
  const config = schema.toConfig();
  return new GraphQLSchema({ ...config, types: [...config.types, type] });
}

/** The clause as a sentence, with REST's status. */
function sentenceOf(meaning: string, status: number): string {
  return `${meaning.slice(0, 1).toUpperCase()}${meaning.slice(1)}${status < 400 ? '' : ` (${status})`}.`;
}
