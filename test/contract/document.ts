import { bundleFromString, createConfig } from '@redocly/openapi-core';

import { readDocument } from '../../src/rest/openapi/document.ts';

export interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly nullable?: boolean;
  readonly required?: readonly string[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly example?: unknown;
  readonly enum?: readonly unknown[];
  readonly [keyword: string]: unknown;
}

interface Header {
  readonly required?: boolean;
  readonly schema: Schema;
}

export interface DocumentedResponse {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Header>>;
  readonly content?: Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly schema: Schema;
}

/** An operation of the published document, its references resolved. */
export interface Operation {
  readonly operationId: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** It adds a row to a collection; any other POST is an action on a row. */
  readonly isCreation: boolean;
  readonly takesKey: boolean;
  readonly parameters: readonly Parameter[];
  /** The schema of the body, whatever its media type. */
  readonly body: Schema | undefined;
  readonly responses: Readonly<Record<string, DocumentedResponse>>;
}

/** The operations as clients read them. */
export async function publishedOperations(): Promise<Operation[]> {
  const { bundle } = await bundleFromString({
    source: JSON.stringify(readDocument()),
    config: await createConfig({}),
    dereference: true,
  });
  const { paths } = bundle.parsed as { readonly paths: Readonly<Record<string, Readonly<Record<string, Node>>>> };
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => operationOf(method, path, operation)),
  );
}

interface Node extends Pick<Operation, 'operationId' | 'responses'> {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

function operationOf(method: string, path: string, node: Node): Operation {
  const { operationId, responses, parameters = [], requestBody } = node;
  return {
    operationId,
    method: method.toUpperCase() as Operation['method'],
    path,
    isCreation: method === 'post' && !path.includes('{'),
    takesKey: parameters.some(({ name }) => name === 'Idempotency-Key'),
    parameters,
    body: requestBody?.content['application/json']?.schema,
    responses,
  };
}
