import { readDocument } from '../../src/rest/document.ts';

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
  readonly parameters: readonly Parameter[];
  /** The schema of the body, whatever its media type. */
  readonly body: Schema | undefined;
  readonly responses: Readonly<Record<string, DocumentedResponse>>;
}

/** The operations as clients read them. */
export function publishedOperations(): Operation[] {
  const document = readDocument();
  const { paths } = resolve(document, document) as { paths: Record<string, Record<string, never>> };
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
    parameters,
    body: requestBody?.content['application/json']?.schema,
    responses,
  };
}

function resolve(document: object, node: unknown): unknown {
  if (Array.isArray(node)) return node.map((each) => resolve(document, each));
  if (typeof node !== 'object' || node === null) return node;
  if ('$ref' in node) return resolve(document, lookUp(document, String(node.$ref)));
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, resolve(document, value)]));
}

function lookUp(document: object, reference: string): unknown {
  const names = reference.split('/').slice(1);
  return names.reduce<unknown>((node, name) => (node as Record<string, unknown>)[name], document);
}
