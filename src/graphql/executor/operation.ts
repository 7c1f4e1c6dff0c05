import {
  locatedError,
  OperationTypeNode,
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';

import { HttpError } from '../../http/error-table.ts';
import { fragmentsIn, type Fragments, variablesFor } from './collect-fields.ts';
import { Pieces } from './pieces.ts';
import { Run, type RunContext } from './run.ts';
import { promiseOf } from './text.ts';
import { PreparedSelection, type SelectedField, type Variant } from './selection.ts';

/** More condition variables than this have too many combinations to cache. */
const maxRememberedConditions = 4;
/** Of `@skip` and `@include`. */
const conditionArguments: ReadonlySet<string> = new Set(['if']);

/** An operation of a valid document. */
export interface OperationSource {
  readonly schema: GraphQLSchema;
  /** Valid for the schema. */
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
}

export interface Execution {
  /** The JSON text of `data`; undefined when it would be too large. */
  readonly data: string | undefined;
  /** For the marks in `data`. */
  readonly pieces: Pieces;
  readonly errors: readonly GraphQLError[];
  /** How many errors there were beyond these. */
  readonly omittedErrors: number;
}

/** A root field, by its response key. */
export type RootField = Pick<SelectedField, 'key' | 'name' | 'nodes'>;

/**
 * An operation prepared for repeated execution.
 *
 * Model. It is a tree of fields over the resolvers of the schema, prepared lazily, which writes JSON text. A value is
 * written at once where nothing in it needs a path, `info` or a promise (`leaf.ts`), and as the specification has it
 * otherwise (`completion.ts`); text that waits for a promise is pending (`text.ts`). A tree belongs to one combination
 * of the variables in `@skip` and `@include`. Those of up to 4 variables are cached; with more of them, or with a null
 * among them, the tree is prepared for the one execution.
 *
 * Guarantees. Responses follow the GraphQL specification, as those of graphql-js do; a property test compares the two.
 * Nothing that a client has sent becomes code. The work of preparing is linear in the fields of the operation with its
 * fragments expanded; the work of running is bounded by the limits on cost and by the bytes that may be written.
 *
 * Failures. An error is recorded at the path that it makes null, at most 100 of them; what is below that path is
 * discarded, and its length given back. Once the response would be too large, nothing more is resolved or written.
 */
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

  /**
   * Executes it with variables that have been coerced. Rejects only because of a bug in this code.
   *
   * `mayGoOn` is asked after each root mutation; the fields after one for which it is false are neither carried out nor
   * in the data.
   */
  run(
    context: RunContext,
    variables: Readonly<Record<string, unknown>>,
    maxBytes: number,
    mayGoOn: (key: string) => boolean = () => true,
  ): Promise<Execution> {
    const run = new Run(context, variables, maxBytes);
    return finished(run, maxBytes, () => {
      const root = this.#variantFor(variables);
      return this.kind === OperationTypeNode.MUTATION
        ? serially(root.fields, run, maxBytes, mayGoOn)
        : promiseOf(root.write(undefined, undefined, run));
    });
  }

  /** The root fields with these variables, as they are in the response, without `__typename`. */
  rootFields(variables: Readonly<Record<string, unknown>>): readonly RootField[] {
    return this.#variantFor(variables).fields.filter(({ name }) => !name.startsWith('__'));
  }

  /** The execution in which every root field has failed. */
  failed(variables: Readonly<Record<string, unknown>>, causeOf: (key: string) => unknown): Execution {
    const errors: GraphQLError[] = [];
    const data = this.#variantFor(variables).fields.map(({ key, name, nodes, prefix }) => {
      if (name.startsWith('__')) return `${prefix}${JSON.stringify(this.#source.schema.getMutationType()?.name)}`;
      errors.push(locatedError(causeOf(key), nodes, [key]));
      return `${prefix}null`;
    });
    return { data: `${data.join('')}}`, pieces: new Pieces(), errors, omittedErrors: 0 };
  }

  get #areVariantsRemembered(): boolean {
    return this.#conditionNames.length <= maxRememberedConditions;
  }

  #variantFor(variables: Readonly<Record<string, unknown>>): PreparedSelection {
    const names = this.#conditionNames;
    if (!this.#areVariantsRemembered || names.some((name) => typeof variables[name] !== 'boolean')) {
      return this.#prepare(variables);
    }
    const key = names.map((name) => (variables[name] === true ? '1' : '0')).join('');
    const selection = this.#variants.get(key) ?? this.#prepare(variables);
    this.#variants.set(key, selection);
    return selection;
  }

  #prepare(variables: Readonly<Record<string, unknown>>): PreparedSelection {
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

async function finished(run: Run, maxBytes: number, write: () => Promise<string> | string): Promise<Execution> {
  let data: string;
  try {
    data = await write();
  } catch (failure) {
    run.report(undefined, () => locatedError(failure, undefined));
    data = 'null';
  }
  const { pieces, errors, omittedErrors } = run;
  const isTooLarge = run.isTooLarge || hasMoreBytes(data, pieces, maxBytes);
  return { data: isTooLarge ? undefined : data, pieces, errors, omittedErrors };
}

/**
 * Carries out root mutations one after another, each with its whole payload.
 *
 * All of them are executed, even when the response is full: then their fields are null, each with an error that says
 * so.
 */
async function serially(
  fields: readonly SelectedField[],
  run: Run,
  maxBytes: number,
  mayGoOn: (key: string) => boolean,
): Promise<string> {
  let data = '';
  let bytes = 2;
  for (const { key, name, nodes, prefix, field } of fields) {
    let text = await promiseOf(field.write(undefined, undefined, run));
    bytes += Buffer.byteLength(prefix);
    if (run.isTooLarge || (text !== 'null' && bytes + run.pieces.bytesOf(text) > maxBytes)) {
      run.pieces.drop(text);
      text = 'null';
      // So that nothing more is written.
      run.length = maxBytes;
      run.isTooLarge = false;
      const path = { prev: undefined, key, typename: undefined };
      run.report(path, () => locatedError(payloadTooLarge(name, maxBytes), nodes, [key]));
    }
    bytes += run.pieces.bytesOf(text);
    data += prefix + text;
    if (!name.startsWith('__') && !mayGoOn(key)) break;
  }
  return fields.length === 0 ? '{}' : `${data}}`;
}

function payloadTooLarge(name: string, maxBytes: number): HttpError {
  const message = `${name} was carried out, but the response with its payload would be larger than the ${maxBytes} bytes that are allowed.`;
  return new HttpError('RESULT_TOO_LARGE', message);
}

/** Text has at most three times as many bytes as UTF-16 code units. */
function hasMoreBytes(text: string, pieces: Pieces, maxBytes: number): boolean {
  const isSmall = pieces.isEmpty && text.length * 3 <= maxBytes;
  return !isSmall && pieces.bytesOf(text) > maxBytes;
}
