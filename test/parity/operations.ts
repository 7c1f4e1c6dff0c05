import { getNamedType, isInputObjectType, isLeafType, isObjectType, type GraphQLInputField } from 'graphql';

import { createSchema } from '../../src/graphql/schema.ts';
import { readOperations, type Schema } from '../../src/rest/openapi/document.ts';
import type { Method } from '../support/test-app.ts';

/** The same write over both protocols. */
export interface Operation {
  readonly name: string;
  readonly method: Method;
  /** `:id` stands for the id. */
  readonly url: string;
  /** The name of the id in the mutation's input, where it has one. */
  readonly idField: string | undefined;
  /** What is selected of the payload: the row's own fields. */
  readonly result: string;
  /** Whether it only inserts, in REST and in GraphQL. */
  readonly inserts: readonly [rest: boolean, graphql: boolean];
  /** The body of REST. */
  readonly body: Schema | undefined;
}

const schema = createSchema();
const mutations = schema.getMutationType()?.getFields() ?? {};

/** All that REST and GraphQL have under the same name. */
export const operations: readonly Operation[] = readOperations().flatMap(
  ({ operationId: name, method, path, body, inserts: ofRest }) => {
    const mutation = mutations[name];
    if (mutation === undefined) return [];
    const [, parameter] = /\{(\w+)\}/.exec(path) ?? [];
    const inputs = inputFieldsOf(name);
    const idField = parameter && ('id' in inputs ? 'id' : parameter);
    const url = path.replace(/\{\w+\}/, ':id');
    const inserts = [ofRest, mutation.extensions['creates'] === true] as const;
    return { name, method: method as Method, url, idField, inserts, result: resultOf(name), body: body?.schema };
  },
);

export function operationNamed(name: string): Operation {
  const found = operations.find((operation) => operation.name === name);
  if (found === undefined) throw new Error(`There is no ${name} in both protocols.`);
  return found;
}

function inputFieldsOf(name: string): Readonly<Record<string, GraphQLInputField>> {
  const type = getNamedType(mutations[name]?.args[0]?.type);
  return isInputObjectType(type) ? type.getFields() : {};
}

function resultOf(name: string): string {
  const payload = getNamedType(mutations[name]?.type);
  const [field] = isObjectType(payload) ? Object.values(payload.getFields()) : [];
  const row = getNamedType(field?.type);
  if (!isObjectType(row)) return String(field?.name);
  const leaves = Object.values(row.getFields()).filter(({ type }) => isLeafType(getNamedType(type)));
  return `${String(field?.name)} { ${leaves.map((leaf) => leaf.name).join(' ')} }`;
}
