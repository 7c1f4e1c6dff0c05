import { GraphQLError, valueFromASTUntyped } from 'graphql';

import type { Bound, OnRefusal } from '../../http/observe/bounds.ts';
import { overLimit } from './errors.ts';
import { type CountedList, Measurement } from './measurement.ts';
import { LruMap } from '../../platform/lru-map.ts';
import { type OperationSource, type Variables, variablesFor } from '../../platform/executor/index.ts';

/** The measures of an operation before its execution, with `@skip` and `@include` applied. */
export interface Measure {
  /** Fields inside each other; introspection doesn't count. */
  readonly depth: number;
  /** Objects that could be looked up; see `Measurement`. */
  readonly complexity: number;
  /** The list that counts most in it. */
  readonly list: CountedList | undefined;
  readonly aliases: number;
  /** An estimate of the size of a large result; without bound for introspection. */
  readonly bytes: number;
  /** The root fields as the schema names them, one for each response key. */
  readonly rootFields: readonly string[];
  /** Those that are executed: without `__typename` and introspection. */
  readonly executedFields: readonly string[];
  /** The names of all of them, each once. */
  readonly rootFieldNames: readonly string[];
  /** The operation's name in the metrics; their number is bounded by the schema's root fields. */
  readonly label: string;
}

/** The arguments that set the size of a result. */
const sizingArguments: ReadonlySet<string> = new Set(['first', 'last', 'if', 'nodeIds']);

/** A number, a boolean, or the length of a list; other values don't matter here. */
export type SizingValue = number | boolean | undefined;

function sizingValueOf(value: unknown): SizingValue {
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.length;
  return typeof value === 'string' ? 1 : undefined;
}

/** The last measures, by the operation and the values that they depend on; all take so many bytes, or twice as many. */
const remembered = new LruMap<string, Measure>(
  2 ** 22,
  (key, { rootFields }) => 500 + 2 * key.length + 100 * rootFields.length,
);
let lastNumber = 0;

/**
 * Measures one operation, for any variables.
 *
 * The variables are unvalidated: wrong ones are refused later, whatever is measured.
 */
export class OperationMeasure {
  readonly #source: OperationSource;
  readonly #defaults: ReadonlyMap<string, unknown>;
  readonly #sizingVariables: readonly string[];
  readonly #number = (lastNumber += 1);

  constructor(source: OperationSource) {
    this.#source = source;
    this.#defaults = new Map(
      (source.operation.variableDefinitions ?? []).map(({ variable, defaultValue }) => [
        variable.name.value,
        defaultValue && valueFromASTUntyped(defaultValue),
      ]),
    );
    const names = variablesFor(sizingArguments, source.document);
    this.#sizingVariables = names.filter((name) => this.#defaults.has(name));
  }

  for(given: Variables): Measure {
    const sizes = this.#sizingVariables.map((name) => sizingValueOf(this.#valueOf(name, given)));
    const key = `${this.#number}:${sizes.join()}`;
    const known = remembered.get(key);
    if (known !== undefined) return known;
    const values = new Map(this.#sizingVariables.map((name, index) => [name, sizes[index]]));
    const measure = new Measurement(this.#source, values).measure();
    remembered.set(key, measure);
    return measure;
  }

  #valueOf(name: string, given: Variables): unknown {
    return Object.hasOwn(given, name) ? given[name] : this.#defaults.get(name);
  }
}

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

/**
 * The quota that an operation costs: 1 for each root field, and at least 1. Introspection and `__typename` are free
 * beside others.
 *
 * 0 for a small request that selects only the remaining quota.
 */
export function quotaCost({ rootFields, executedFields }: Measure, requestBytes: number): number {
  const isFree =
    requestBytes <= maxFreeBytes &&
    executedFields.length > 0 &&
    rootFields.every((name) => freeFields.has(name) || name === '__typename');
  return isFree ? 0 : Math.max(1, executedFields.length);
}

/**
 * Refuses an operation beyond a limit before it is executed; the message has both numbers, and words for those who
 * wrote the operation.
 */
export function assertWithinLimits(measure: Measure, limits: OperationLimits, onRefusal: OnRefusal): void {
  const { depth, complexity, list, aliases } = measure;
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
    const message = `The operation's complexity is ${complexity}, but at most ${maxComplexity} is allowed. ${adviceFor(list)}`;
    const extensions = { code: 'COMPLEXITY_LIMIT_EXCEEDED', complexity, maxComplexity, http: { status: 400 } };
    refuse('complexity', new GraphQLError(message, { extensions }));
  }
}

/** How to make an operation less complex, in the words of its author. */
function adviceFor(list: CountedList | undefined): string {
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
