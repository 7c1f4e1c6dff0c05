import { valueFromASTUntyped } from 'graphql';

import { LruMap } from '../../platform/lru-map.ts';
import { type OperationSource, type Variables, variablesFor } from '../../platform/executor/index.ts';
import { type CountedList, measureOperation } from './measurement.ts';

/** The measures of an operation before its execution, with `@skip` and `@include` applied. */
export interface Measure {
  /** Fields inside each other; introspection doesn't count. */
  readonly depth: number;
  /** Objects that could be looked up; see `measureOperation`. */
  readonly complexity: number;
  /** How much of the complexity is that of searches. */
  readonly searchComplexity: number;
  /** The list that counts most in it. */
  readonly list: CountedList | undefined;
  readonly aliases: number;
  /** It selects a field that costs something where others are free. */
  readonly isCharged: boolean;
  /** An estimate of the size of a large result; without bound for introspection. */
  readonly bytes: number;
  /** The root fields as the schema names them, one for each response key. */
  readonly rootFields: readonly string[];
  /** The root fields that are executed: all but `__typename` and introspection. */
  readonly executedFields: readonly string[];
  /** The names of all of them, each once. */
  readonly rootFieldNames: readonly string[];
  /** The operation's name in the metrics; their number is bounded by the schema's root fields. */
  readonly label: string;
}

/** The arguments, and the input field, that decide how much is looked up. */
export const sizingArguments: ReadonlySet<string> = new Set([
  'first',
  'last',
  'if',
  'nodeIds',
  'filter',
  'nameContains',
]);

/** A number, a boolean, the length of a list; of a text, or of that in a filter, whether it is empty (0) or not (1). */
export type SizingValue = number | boolean | undefined;

function sizingValueOf(value: unknown): SizingValue {
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.length;
  const text = typeof value === 'object' && value !== null && 'nameContains' in value ? value.nameContains : value;
  return typeof text === 'string' ? Math.min(text.length, 1) : undefined;
}

/** The last measures, by the operation and the values that they depend on; all take so many bytes, or twice as many. */
const remembered = new LruMap<string, Measure>(
  2 ** 22,
  (key, { rootFields }) => 500 + 2 * key.length + 100 * rootFields.length,
);
let lastNumber = 0;

/** The variables are unvalidated: wrong ones are refused later, whatever is measured. */
export class Measures {
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
    const measure = measureOperation(this.#source, values);
    remembered.set(key, measure);
    return measure;
  }

  #valueOf(name: string, given: Variables): unknown {
    return Object.hasOwn(given, name) ? given[name] : this.#defaults.get(name);
  }
}
