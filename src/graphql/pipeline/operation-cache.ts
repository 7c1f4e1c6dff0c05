import { crc32 } from 'node:zlib';

import { LruMap } from '../../domain/lru-map.ts';
import type { OperationSource, PreparedOperation } from '../executor/operation.ts';
import type { OperationMeasure } from './measure.ts';

/** A valid operation, with everything about it that doesn't depend on its variables. */
export interface KnownOperation {
  readonly source: OperationSource;
  readonly prepared: PreparedOperation;
  readonly measure: OperationMeasure;
  /** How many fields its document selects, fragments expanded. */
  readonly fieldCount: number;
}

/**
 * The cache holds between this many characters of text and twice as many. A document takes 100 to 200 bytes for each;
 * fields and variants count as if they were text.
 */
const generationCharacters = 2 ** 17;
const charactersPerField = 8;

/** Of so many operations that were sent once, or twice as many, it is known that they were. */
const maxMarks = 10_000;

/**
 * The recently used operations, by the exact text of their document and their name.
 *
 * An operation is stored when it is sent for the second time. So new documents, however many a client sends, neither
 * evict the operations in use nor outlive their request.
 */
export class OperationCache {
  readonly #operations = new LruMap<string, KnownOperation>(generationCharacters, weightOf);
  /** Checksums: two operations that share one are only stored sooner. */
  readonly #sent = new LruMap<number, true>(maxMarks);

  find(text: string, operationName: string | undefined): KnownOperation | undefined {
    return this.#operations.get(keyOf(text, operationName));
  }

  add(text: string, operationName: string | undefined, operation: KnownOperation): void {
    const key = keyOf(text, operationName);
    const mark = crc32(key);
    if (this.#sent.has(mark)) this.#operations.set(key, operation);
    this.#sent.set(mark, true);
  }
}

/**
 * The cache key of an operation. A separator alone wouldn't do: comments and names that clients send may contain any
 * character.
 */
export function keyOf(text: string, operationName: string | undefined): string {
  return operationName === undefined ? `:${text}` : `${operationName.length}:${operationName}${text}`;
}

function weightOf(key: string, { prepared, fieldCount }: KnownOperation): number {
  return key.length + charactersPerField * fieldCount * prepared.maxVariants;
}
