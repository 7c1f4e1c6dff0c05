import { OperationTypeNode, type DocumentNode, type GraphQLSchema, type OperationDefinitionNode } from 'graphql';

import { fragmentsIn, type Fragments, variablesFor } from './collect-fields.ts';
import type { PreparedField } from './field.ts';
import { Held } from './held.ts';
import { Resolution } from './resolve.ts';
import { errorOf, Run, type Execution, type RunOptions, type Variables } from './run.ts';
import { PreparedSelection, type Variant } from './selection.ts';
import { ResultTooLarge } from './sink.ts';
import type { Append } from './write.ts';

/** More condition variables than this have too many combinations to cache. */
const maxRememberedConditions = 4;
/** Of `@skip` and `@include`. */
const conditionArguments: ReadonlySet<string> = new Set(['if']);

/** What the root fields of queries and mutations belong to. */
const noObject: object = Object.freeze(Object.create(null) as object);

/** The payload of a mutation that was carried out would be too large. */
export class PayloadTooLarge extends Error {
  constructor(name: string, maxBytes: number) {
    super(
      `${name} was carried out, but the response with its payload would be larger than the ${maxBytes} bytes that are allowed.`,
    );
  }
}

/** An operation of a valid document. */
export interface OperationSource {
  readonly schema: GraphQLSchema;
  /** Valid for the schema. */
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
}

export interface OperationRun extends RunOptions {
  /**
   * Asked after each root mutation. The fields after one for which it is false are neither carried out nor in the data.
   */
  readonly mayGoOn?: (key: string) => boolean;
}

/** A root field, by its response key. */
export type RootField = Pick<PreparedField, 'key' | 'name' | 'nodes'>;

/** An operation prepared for repeated execution; see the README beside this file. */
export class PreparedOperation {
  readonly kind: OperationTypeNode;
  /** The maximum number of trees. */
  readonly maxVariants: number;
  readonly #source: OperationSource;
  readonly #fragments: Fragments;
  readonly #conditionNames: readonly string[];
  readonly #variants = new Map<string, PreparedSelection>();

  constructor(source: OperationSource) {
    const { document, operation } = source;
    this.kind = operation.operation;
    this.#source = source;
    this.#fragments = fragmentsIn(document);
    this.#conditionNames = variablesFor(conditionArguments, document);
    this.maxVariants = this.#areVariantsRemembered ? 2 ** this.#conditionNames.length : 1;
  }

  /** Executes it. Rejects only because of a bug in this code. */
  async run({ mayGoOn = () => true, ...options }: OperationRun): Promise<Execution> {
    const run = new Run(options);
    const root = this.#variantFor(run.variables);
    try {
      if (this.kind === OperationTypeNode.MUTATION) return run.end(await serially(root, run, mayGoOn));
      const text = await together(root, run);
      return run.end(run.sink.fits(text) ? text : undefined);
    } catch (failure) {
      if (failure instanceof ResultTooLarge) return run.end(undefined);
      run.sink.truncate(0);
      run.fail(failure, true, undefined, 0);
      return run.end('null');
    }
  }

  /** The root fields with these variables, as they are in the response, without `__typename`. */
  rootFields(variables: Variables): readonly RootField[] {
    return this.#variantFor(variables).fields.filter(({ name }) => !name.startsWith('__'));
  }

  /** The execution in which every root field has failed. */
  failed(variables: Variables, causeOf: (key: string) => unknown): Execution {
    const run = new Run({ context: undefined, variables, maxBytes: Infinity });
    const root = this.#variantFor(variables);
    const failures = root.fields.map(({ key }) => errorOf(causeOf(key)));
    return run.end(root.append('', new Held(root, noObject, failures), run));
  }

  get #areVariantsRemembered(): boolean {
    return this.#conditionNames.length <= maxRememberedConditions;
  }

  #variantFor(variables: Variables): PreparedSelection {
    const names = this.#conditionNames;
    if (!this.#areVariantsRemembered || names.some((name) => typeof variables[name] !== 'boolean')) {
      return this.#prepare(variables);
    }
    const key = names.map((name) => (variables[name] === true ? '1' : '0')).join('');
    const selection = this.#variants.get(key) ?? this.#prepare(variables);
    this.#variants.set(key, selection);
    return selection;
  }

  #prepare(variables: Variables): PreparedSelection {
    const { schema, operation } = this.#source;
    const rootType = schema.getRootType(operation.operation);
    if (!rootType) throw new TypeError(`The schema has no ${operation.operation}s.`);
    const conditions = Object.fromEntries(
      this.#conditionNames.filter((name) => Object.hasOwn(variables, name)).map((name) => [name, variables[name]]),
    );
    const variant: Variant = { schema, operation, fragments: this.#fragments, conditions, prepared: new Map() };
    return new PreparedSelection(variant, rootType, [operation.selectionSet]);
  }
}

/** Resolves all root fields together, and writes one after another. Throws ResultTooLarge. */
async function together(root: PreparedSelection, run: Run): Promise<string> {
  const resolution = new Resolution(run);
  const held = root.hold(noObject, undefined, false, resolution);
  await resolution.finish();
  if (resolution.isTooLarge) throw new ResultTooLarge();
  let text = '';
  for (const append of root.fieldWriters) {
    const turn = text === '' ? undefined : run.turn();
    if (turn !== undefined) await turn;
    text = run.sink.flushed(append(text, held, run));
  }
  return root.fields.length === 0 ? '{}' : `${text}}`;
}

/**
 * Carries out root mutations one after another, each with its whole payload.
 *
 * All of them are executed, even when the response is full: then their fields are null, each with an error that says
 * so.
 */
async function serially(root: PreparedSelection, run: Run, mayGoOn: (key: string) => boolean): Promise<string> {
  const { sink } = run;
  const values: unknown[] = [];
  const held = new Held(root, noObject, values);
  let isFull = false;
  let text = '';
  for (const [index, field] of root.fields.entries()) {
    const { key, name } = field;
    const resolution = new Resolution(run, isFull);
    if (field.needs(false))
      field.hold({ source: noObject, values, path: undefined, isComplete: false }, index, resolution);
    await resolution.finish();
    const { [index]: payload } = values;
    const mayBeTooLarge = payload !== undefined && payload !== null && !(payload instanceof Error);
    const { chunkCount } = sink;
    const append = root.fieldWriters[index] as Append;
    try {
      if (mayBeTooLarge && resolution.isTooLarge) throw new ResultTooLarge();
      const written = sink.flushed(append(text, held, run));
      if (mayBeTooLarge && !sink.fits(written)) throw new ResultTooLarge();
      text = written;
    } catch (failure) {
      if (!(failure instanceof ResultTooLarge)) throw failure;
      isFull = true;
      sink.truncate(chunkCount);
      run.depth = 0;
      values[index] = new PayloadTooLarge(name, sink.maxBytes);
      text = append(text, held, run);
    }
    if (!name.startsWith('__') && !mayGoOn(key)) break;
  }
  return root.fields.length === 0 ? '{}' : `${text}}`;
}
