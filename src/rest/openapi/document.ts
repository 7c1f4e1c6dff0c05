import { readFileSync } from 'node:fs';

import type { Scope } from '../../domain/access/scope.ts';
import type { Deprecation } from '../../http/deprecation.ts';
import type { Operations } from './types.ts';

export type OperationId = keyof Operations;

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

export interface RestParameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly schema: Schema;
}

/** An operation of the contract, its references resolved. */
export interface RestOperation<Id extends OperationId = OperationId> {
  readonly operationId: Id;
  readonly method: string;
  /** With its parameters in braces: `/pets/{petId}`. */
  readonly path: string;
  /** The scopes that the key must have, all of them. */
  readonly scopes: readonly Scope[];
  /** The operation adds a row and changes none: with keys, several of a client may be one transaction. */
  readonly inserts: boolean;
  readonly parameters: readonly RestParameter[];
  readonly body?: { readonly schema: Schema; readonly mediaTypes: readonly string[] };
  /** The page about it isn't part of the contract. */
  readonly deprecation?: Omit<Deprecation, 'page'>;
}

/** The document as clients read it, as far as the reference page knows it. */
export interface OpenApiDocument {
  readonly info: { readonly title: string; readonly description: string };
  readonly servers: readonly { readonly url: string; readonly description?: string }[];
  readonly tags: readonly DocumentTag[];
  readonly components: {
    readonly parameters: Readonly<Record<string, DocumentParameter>>;
    readonly schemas: Readonly<Record<string, object>>;
  };
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentOperation>>>>;
  readonly [key: string]: unknown;
}

export interface DocumentTag {
  readonly name: string;
  readonly description: string;
  readonly 'x-parent'?: string;
  readonly 'x-page-title': string;
}

export interface DocumentParameter {
  readonly required?: boolean;
  readonly example?: unknown;
  readonly examples?: unknown;
  readonly schema?: object;
}

export interface DocumentOperation {
  readonly summary: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly DocumentParameter[];
  readonly deprecated?: boolean;
  readonly 'x-stability'?: string;
  readonly 'x-deprecated-sunset'?: string;
  readonly 'x-hideTryItPanel'?: boolean;
}

/** Reads the operations that `.ci/build-openapi.mjs` made of the contract. */
export function readOperations(): readonly RestOperation[] {
  return JSON.parse(read('operations.json'), (key, value: unknown) =>
    key === 'since' || key === 'sunset' ? new Date(String(value)) : value,
  ) as RestOperation[];
}

export function readDocument(): OpenApiDocument {
  return JSON.parse(read('openapi.json')) as OpenApiDocument;
}

/** The same as YAML. */
export function readYaml(): string {
  return read('openapi.yaml');
}

function read(name: string): string {
  return readFileSync(new URL(`built/${name}`, import.meta.url), 'utf8');
}
