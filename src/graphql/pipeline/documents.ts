import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';

import { Kind } from 'graphql';

import type { Accounts, Caller } from '../../platform/callers/index.ts';
import { LruMap } from '../../platform/lru-map.ts';
import type { OperationSource, PreparedOperation } from '../../platform/executor/index.ts';
import type { SchemaDeprecation } from '../deprecations.ts';
import { assertDocumentSize, assertWithinLimits, type OperationLimits } from './admission.ts';
import type { ApolloValidator } from './apollo.ts';
import { asGraphQLError, formatError, unresolvedOperation } from './errors.ts';
import type { Measures } from './measures.ts';
import { PersistedTexts } from './persisted-texts.ts';
import type { GraphQLRequest } from './request.ts';
import type { DeclaredVariables } from './variables.ts';
import { readManifest, type TrustedDocument, UnusableDocuments, withoutHashPrefix } from './trusted-documents.ts';

/** A valid operation, with everything about it that doesn't depend on its variables. */
export interface KnownOperation {
  readonly source: OperationSource;
  readonly prepared: PreparedOperation;
  readonly measures: Measures;
  readonly variables: DeclaredVariables;
  readonly isAtomic: boolean;
  /** What it uses of what is deprecated. */
  readonly deprecated: readonly SchemaDeprecation[];
  /** How many fields its document selects, fragments expanded. */
  readonly fieldCount: number;
  /** An estimate of its memory. */
  readonly bytes: number;
}

/** The cache holds so many characters, or twice as many, of 100 to 200 bytes; fields and variants count, too. */
const minCharacters = 2 ** 17;
const charactersPerField = 8;

/** How many checksums are remembered, or twice as many. */
const maxChecksums = 10_000;

/** Remembers checksums of what was sent: of two texts that share one, the second is only stored sooner. */
export class SentTexts {
  readonly #checksums = new LruMap<number, true>(maxChecksums);

  /** Whether the text was sent before this call. */
  wasSent(text: string): boolean {
    const checksum = crc32(text);
    const wasSent = this.#checksums.has(checksum);
    this.#checksums.set(checksum, true);
    return wasSent;
  }
}

/** Text and name, with the name's length: comments and names may contain any separator. */
export function operationKey(text: string, operationName: string | undefined): string {
  return operationName === undefined ? `:${text}` : `${operationName.length}:${operationName}${text}`;
}

export function weightOf(key: string, { prepared, fieldCount }: KnownOperation): number {
  return key.length + charactersPerField * fieldCount * prepared.maxVariants;
}

export interface DocumentOptions {
  /** A manifest of operations; see `readManifest`. */
  readonly documentsPath?: string | undefined;
  /** Refuses every operation that isn't in the manifest. */
  readonly documentsOnly?: boolean;
}

type Validator = Pick<ApolloValidator, 'validate'>;

interface RequestedDocument {
  readonly text: string | undefined;
  readonly operationName: string | undefined;
}

/**
 * The known operations, by `operationKey`: those of the manifest permanently, and those that were used recently.
 *
 * A recent one is stored when it is sent for the second time. So new documents, however many a client sends, neither
 * evict the operations in use nor outlive their request.
 */
export class Documents {
  readonly #texts: PersistedTexts;
  readonly #entries = new Map<string, RequestedDocument>();
  readonly #trusted = new Map<string, KnownOperation>();
  readonly #recent = new LruMap<string, KnownOperation>(minCharacters, weightOf);
  readonly #sent = new SentTexts();

  constructor(accounts: Accounts) {
    this.#texts = new PersistedTexts(accounts);
  }

  /** Prepares the operations of a manifest; throws UnusableDocuments when one doesn't fit the schema or the limits. */
  async load(path: string, validator: Validator, limits: OperationLimits): Promise<void> {
    for (const document of await readManifest(path)) {
      const { id, text, operationName } = document;
      const operation = await prepare(document, validator, limits);
      const { document: parsed, operation: definition } = operation.source;
      const name = operationName ?? definition.name?.value;
      this.#entries.set(id, { text, operationName: name });
      this.#trusted.set(operationKey(text, name), operation);
      const operations = parsed.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION);
      if (operations.length === 1) this.#trusted.set(operationKey(text, undefined), operation);
    }
  }

  /**
   * The document that a request sends, in full or by its id; without a text for an unknown id. By the id of an entry of the
   * manifest it is the operation that the entry names, also where others share its text. Throws when the request names
   * another one.
   */
  requestedBy({ query, documentId, sha256, operationName }: GraphQLRequest): RequestedDocument {
    const id = sha256 ?? documentId;
    if (query !== undefined || id === undefined) return { text: query, operationName };
    const entry = this.#entries.get(withoutHashPrefix(id));
    if (entry === undefined) return { text: this.#texts.get(withoutHashPrefix(id)), operationName };
    if (operationName !== undefined && operationName !== entry.operationName) throw unresolvedOperation(operationName);
    return entry;
  }

  /** Whether an id is that of a text: its SHA-256, or that of an entry of the manifest. */
  isIdOf(id: string, text: string): boolean {
    const key = withoutHashPrefix(id);
    return this.#entries.get(key)?.text === text || hash('sha256', text) === key;
  }

  find(key: string): KnownOperation | undefined {
    return this.#trusted.get(key) ?? this.#recent.get(key);
  }

  isTrusted(key: string): boolean {
    return this.#trusted.has(key);
  }

  /** Keeps the text of a valid operation, which can be asked for by its hash from then on. */
  keep(sha256: string, text: string, caller: Caller): void {
    this.#texts.set(sha256, text, caller);
  }

  add(key: string, operation: KnownOperation): void {
    if (this.#sent.wasSent(key)) this.#recent.set(key, operation);
  }
}

async function prepare(
  { id, text, operationName }: TrustedDocument,
  validator: Validator,
  limits: OperationLimits,
): Promise<KnownOperation> {
  try {
    assertDocumentSize(text);
    const operation = await validator.validate(text, operationName);
    if ('errors' in operation) throw new Error(operation.errors.map((error) => formatError(error).message).join(' '));
    assertWithinLimits(operation.measures.for({}), limits, () => undefined);
    return operation;
  } catch (error) {
    const { message } = asGraphQLError(error);
    const name = [operationName, `(${id})`].join(' ').trim();
    throw new UnusableDocuments(`GRAPHQL_DOCUMENTS: the operation ${name} can't be offered: ${message}`);
  }
}
