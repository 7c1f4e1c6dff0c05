import { asGraphQLError } from './errors.ts';
import { assertWithinLimits, type OperationLimits } from './admission.ts';
import type { ApolloValidator } from './apollo.ts';
import { keyOf, OperationCache, type KnownOperation } from './operation-cache.ts';
import type { PersistedTexts } from './persisted-texts.ts';
import type { GraphQLRequest } from './request.ts';
import { readManifest, UnusableDocuments, withoutHashPrefix, type TrustedDocument } from './trusted-documents.ts';

export interface DocumentOptions {
  /** A manifest of operations; see `readManifest`. */
  readonly documentsPath?: string | undefined;
  /** Refuses every operation that isn't in the manifest. */
  readonly documentsOnly?: boolean;
}

/** The known operations: those of the manifest permanently, others in a cache. */
export class Documents {
  readonly #texts: PersistedTexts;
  readonly #recent = new OperationCache();
  readonly #trustedTexts = new Map<string, string>();
  readonly #trusted = new Map<string, KnownOperation>();

  constructor(texts: PersistedTexts) {
    this.#texts = texts;
  }

  /** Prepares the operations of a manifest; throws UnusableDocuments when one doesn't fit the schema or the limits. */
  async load(path: string, validator: ApolloValidator, limits: OperationLimits): Promise<void> {
    for (const document of await readManifest(path)) {
      const { id, text, operationName } = document;
      const operation = await prepare(document, validator, limits);
      this.#trustedTexts.set(id, text);
      for (const name of [undefined, operationName ?? operation.source.operation.name?.value]) {
        this.#trusted.set(keyOf(text, name), operation);
      }
    }
  }

  /** The text of a request, sent in full or by its id; undefined for an unknown id. */
  textOf({ query, documentId, sha256 }: GraphQLRequest): string | undefined {
    const id = sha256 ?? documentId;
    if (query !== undefined || id === undefined) return query;
    return this.#trustedTexts.get(withoutHashPrefix(id)) ?? this.#texts.get(withoutHashPrefix(id));
  }

  find(text: string, operationName: string | undefined): KnownOperation | undefined {
    return this.#trusted.get(keyOf(text, operationName)) ?? this.#recent.find(text, operationName);
  }

  isTrusted(text: string | undefined, operationName: string | undefined): boolean {
    return text !== undefined && this.#trusted.has(keyOf(text, operationName));
  }

  /** Keeps the text of a valid operation, which can be asked for by its hash from then on. */
  keep(sha256: string, text: string, client: string): void {
    this.#texts.set(sha256, text, client);
  }

  add(text: string, operationName: string | undefined, operation: KnownOperation): void {
    this.#recent.add(text, operationName, operation);
  }
}

async function prepare(
  { id, text, operationName }: TrustedDocument,
  validator: ApolloValidator,
  limits: OperationLimits,
): Promise<KnownOperation> {
  const operation = await validator.validate(text, operationName);
  const refuse = (message: string): UnusableDocuments =>
    new UnusableDocuments(
      `GRAPHQL_DOCUMENTS: the operation ${[operationName, `(${id})`].join(' ').trim()} can't be offered: ${message}`,
    );
  if ('errors' in operation) throw refuse(operation.errors.map(({ message }) => message).join(' '));
  try {
    assertWithinLimits(operation.measure.for({}), limits, () => undefined);
  } catch (error) {
    throw refuse(asGraphQLError(error).message);
  }
  return operation;
}
