import type { InjectOptions } from 'fastify';
import {
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isRequiredArgument,
  isRequiredInputField,
  type GraphQLInputType,
  OperationTypeNode,
} from 'graphql';

import type { Scope } from '../../src/domain/access/scope.ts';
import { createSchema } from '../../src/graphql/schema.ts';
import { publishedOperations } from '../contract/document.ts';
import { scopesNeededBy } from './rights.ts';

/** One thing that can be done with the service, as the security suite asks for it. */
export interface Operation {
  readonly name: string;
  /** Those that a key must have, all of them. */
  readonly scopes: readonly Scope[];
  readonly request: InjectOptions;
  /** How a key without the scope is refused: by the response, or by an error of the field in a response of 200. */
  readonly protocol: 'rest' | 'graphql';
}

/** Every root field with the least that it takes. What is asked for needn't exist. */
const graphqlOperations = [OperationTypeNode.QUERY, OperationTypeNode.MUTATION].flatMap((kind) =>
  Object.values(createSchema().getRootType(kind)?.getFields() ?? {}).map((field): Operation => {
    const { name } = field;
    const args = field.args.filter(isRequiredArgument).map((arg) => `${arg.name}: ${literal(arg.type)}`);
    const selection = isLeafType(getNamedType(field.type)) ? '' : '{ __typename }';
    const query = `${kind} { ${name}${args.length === 0 ? '' : `(${args.join()})`} ${selection} }`;
    const request = { method: 'POST', url: '/graphql', payload: { query } } as const;
    return { name, scopes: scopesNeededBy(name), protocol: 'graphql', request };
  }),
);

function literal(type: GraphQLInputType): string {
  const named = getNullableType(type);
  if (isListType(named)) return `[${literal(named.ofType)}]`;
  if (isEnumType(named)) return String(named.getValues()[0]?.name);
  if (!isInputObjectType(named))
    return ({ Int: '60', Boolean: 'true' } as Record<string, string>)[named.name] ?? '"404"';
  const fields = Object.values(named.getFields()).filter(isRequiredInputField);
  return `{ ${fields.map((field) => `${field.name}: ${literal(field.type)}`).join()} }`;
}

const restOperations = (await publishedOperations()).map(({ operationId, method, path, body }): Operation => {
  const url = path.replace(/\{\w+\}/, '404');
  return {
    name: operationId,
    scopes: scopesNeededBy(operationId),
    protocol: 'rest',
    request: { method, url, ...(body === undefined ? {} : { payload: {} }) },
  };
});

/** Everything that clients can ask for. */
export const operations: readonly Operation[] = [...graphqlOperations, ...restOperations];
