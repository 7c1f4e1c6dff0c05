import { readFileSync } from 'node:fs';

import { parse } from 'yaml';

import type { Deprecation } from '../http/deprecation.ts';
import type { operations } from './openapi-types.ts';

export type OperationId = keyof operations;

/** A schema of OpenAPI 3.0, its references resolved. */
export interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly nullable?: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly [keyword: string]: unknown;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly schema: Schema;
}

/** An operation as the document has it, its references resolved. */
export interface Operation {
  readonly operationId: OperationId;
  readonly method: string;
  /** With its parameters in braces: `/pets/{petId}`. */
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly body: { readonly schema: Schema; readonly mediaTypes: readonly string[] } | undefined;
  /** Without the page about it, which isn't of this document. */
  readonly deprecation: Omit<Deprecation, 'page'> | undefined;
}

/** `openapi.yaml`, the source of paths, parameters and bodies, as it is written there. */
export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Node>>>>;
  readonly [key: string]: unknown;
}

type Node = Readonly<Record<string, unknown>>;

export function readDocument(): OpenApiDocument {
  const text = readFileSync(new URL('openapi.yaml', import.meta.url), 'utf8');
  // The count of aliases is a guard against other people's documents, and takes a third of the time.
  const document = parse(text, { merge: true, maxAliasCount: -1 }) as OpenApiDocument;
  return Object.fromEntries(Object.entries(document).filter(([key]) => key !== 'x-shared')) as OpenApiDocument;
}

export function operationsOf(document: OpenApiDocument): Operation[] {
  const { paths } = resolveReferences(document, document) as OpenApiDocument;
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => operationOf(path, method, operation)),
  );
}

function operationOf(path: string, method: string, node: Node): Operation {
  const { operationId, parameters = [], requestBody, deprecated } = node;
  const content = (requestBody as { content: Record<string, { schema: Schema }> } | undefined)?.content;
  const [body] = Object.values(content ?? {});
  return {
    operationId: operationId as OperationId,
    method: method.toUpperCase(),
    path,
    parameters: parameters as Parameter[],
    body: body && { schema: body.schema, mediaTypes: Object.keys(content ?? {}) },
    deprecation: deprecated === true ? deprecationOf(node) : undefined,
  };
}

function deprecationOf(node: Node): Omit<Deprecation, 'page'> {
  return {
    since: new Date(String(node['x-deprecated-since'])),
    sunset: new Date(String(node['x-deprecated-sunset'])),
    successor: String(node['x-deprecated-successor']),
  };
}

/** Puts in the place of every reference what it refers to. No schema of ours refers to itself. */
function resolveReferences(document: OpenApiDocument, node: unknown): unknown {
  if (Array.isArray(node)) return node.map((each) => resolveReferences(document, each));
  if (typeof node !== 'object' || node === null) return node;
  if ('$ref' in node) return resolveReferences(document, lookUp(document, String(node.$ref)));
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, resolveReferences(document, value)]));
}

function lookUp(document: OpenApiDocument, reference: string): unknown {
  const [, ...names] = reference.split('/');
  return names.reduce<unknown>((node, name) => (node as Node | undefined)?.[name], document);
}
