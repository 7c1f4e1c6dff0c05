import { GraphQLError } from 'graphql';

import type { Bound, OnRefusal } from '../../http/observe/bounds.ts';
import { overLimit } from './errors.ts';
import type { Measure } from './measures.ts';

export interface OperationLimits {
  /** Fields inside each other; introspection is exempt. */
  readonly maxDepth: number;
  readonly maxComplexity: number;
  /** Aliases; those in a fragment count each time it is spread. */
  readonly maxAliases: number;
}

/** The text of a document in UTF-8, also of one that is persisted or trusted. */
export const maxDocumentBytes = 64 * 1024;

/** Fields that only show the remaining quota. A request that selects nothing else is free. */
const freeFields: ReadonlySet<string> = new Set(['rateLimit', 'viewer']);

/** Only small requests are free. */
const maxFreeBytes = 2048;

/** 1 for each root field but introspection, at least 1; 0 for a small request that selects only the quota. */
export function quotaCost({ rootFields, executedFields, isCharged }: Measure, requestBytes: number): number {
  const isFree =
    requestBytes <= maxFreeBytes &&
    !isCharged &&
    executedFields.length > 0 &&
    rootFields.every((name) => freeFields.has(name) || name === '__typename');
  return isFree ? 0 : Math.max(1, executedFields.length);
}

/** The message has both numbers, and words for those who wrote the operation. */
export function assertWithinLimits(measure: Measure, limits: OperationLimits, onRefusal: OnRefusal): void {
  const { depth, complexity, aliases } = measure;
  const { maxDepth, maxComplexity, maxAliases } = limits;
  const refuse = (bound: Bound, error: GraphQLError): never => {
    onRefusal(bound);
    throw error;
  };
  if (depth > maxDepth)
    refuse('depth', overLimit(`The operation is ${depth} fields deep, but at most ${maxDepth} are allowed.`));
  if (aliases > maxAliases)
    refuse('aliases', overLimit(`The operation has ${aliases} aliases, but at most ${maxAliases} are allowed.`));
  if (complexity > maxComplexity) {
    const message = `The operation's complexity is ${complexity}, but at most ${maxComplexity} is allowed. ${adviceFor(measure)}`;
    const extensions = { code: 'COMPLEXITY_LIMIT_EXCEEDED', complexity, maxComplexity, http: { status: 400 } };
    refuse('complexity', new GraphQLError(message, { extensions }));
  }
}

/** How to make an operation less complex, in the words of its author. */
function adviceFor({ list, searchComplexity }: Measure): string {
  if (searchComplexity > (list?.complexity ?? 0)) {
    return `Search less: nameContains counts ${searchComplexity} of it, 500 for each page and 500 for each totalCount.`;
  }
  if (list === undefined) return 'Select fewer objects.';
  const { path, entries, complexity, within } = list;
  const inner = within === undefined ? '' : `, with ${within.entries} of ${within.path} in each`;
  return `Make a list shorter: ${path} counts ${complexity} with ${entries} entries${inner}.`;
}

/** Refuses the text of a document that is too long, before it is parsed, looked up or kept. */
export function assertDocumentSize(text: string): void {
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxDocumentBytes) return;
  throw overLimit(`The document has ${bytes} bytes of UTF-8, but at most ${maxDocumentBytes} are allowed.`);
}
