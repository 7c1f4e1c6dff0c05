import { createHash } from 'node:crypto';

import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';

import { UnreadableRow } from './failures.ts';
import type { ConnectionLease } from './lease.ts';
import type { Caller } from '../callers/index.ts';

const tracer = trace.getTracer('platform/postgres');

/** The most characters of a statement's text in a span. */
const maxTextLength = 2_000;

type Scalar = string | number | boolean | null;

export type Parameter = Scalar | readonly Scalar[];

/**
 * Decides on which connection it runs: short reads share some, and may be sent once more when their connection ends,
 * because none of them changes anything; one that writes has a connection of its own, and so has a read that may take
 * long, of which few run at a time.
 */
type StatementKind = 'short' | 'slow' | 'write';

/** A statement, which is made once and run with its values. */
export interface Statement<Row> {
  readonly text: string;
  /**
   * A connection keeps the statement prepared under this name, which always means the same text. Undefined: planned for
   * its values each time.
   */
  readonly name: string | undefined;
  readonly kind: StatementKind;
  /** How many columns each row has; 0 for a statement without rows. */
  readonly columns: number;
  /** Converts PostgreSQL's texts to a row. */
  readonly decode: (fields: readonly (string | null)[]) => Row;
  /** Its form for several at once: takes a list of each value, and returns a row for each element, in their order. */
  readonly many?: Statement<Row> | undefined;
  /** Of a form for many: makes one value of the last ones, of which it takes no list. */
  readonly common?: ((values: readonly Parameter[]) => Parameter) | undefined;
  /**
   * What was asked for, of a statement whose time depends on that, and which waits for nothing: one that is cut off
   * would be again, and its failure names it.
   */
  readonly subject?: string | undefined;
  /**
   * Whether these can be the rows for the values, and not the response to another query. A method, so that all
   * statements have a common type.
   */
  areFor?(rows: readonly Row[], values: StatementValues): boolean;
}

export function statementOf<Row>(
  text: string,
  columns: number,
  decode: Statement<Row>['decode'],
  kind: StatementKind = 'short',
  more: Pick<Statement<Row>, 'many' | 'common' | 'subject'> = {},
): Statement<Row> {
  const { many } = more;
  // The same for the same text, whichever process names it.
  const name = `statement_${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
  const statement = { text, name, kind, columns, decode, ...more };
  if (many === undefined) return statement;
  const areFor = (rows: readonly Row[], [list]: StatementValues): boolean =>
    many.columns === 0 || rows.length === (list as readonly unknown[]).length;
  return { ...statement, many: { ...many, areFor } };
}

/** A statement whose rows aren't read. `columns` is how many they have, as those of `set_config`. */
export function commandOf(
  text: string,
  { kind = 'write', columns = 0, many }: Partial<Pick<Statement<undefined>, 'kind' | 'columns' | 'many'>> = {},
): Statement<undefined> {
  return statementOf(text, columns, () => undefined, kind, { many });
}

/** The same, planned for its values each time. */
export function unprepared<Row>(statement: Statement<Row>): Statement<Row> {
  return { ...statement, name: undefined };
}

/** The same on a connection for slow reads. */
export function slow<Row>(statement: Statement<Row>): Statement<Row> {
  return { ...statement, kind: 'slow' };
}

export type StatementValues = readonly Parameter[];

/** A statement with its values, where several are sent together, or later. */
export interface Query<Row> {
  readonly statement: Statement<Row>;
  readonly values: StatementValues;
}

/** How rows of one kind are looked up by their ids. */
export interface LookUp<Row> {
  readonly byId: Statement<Row>;
  /** The rows may come in any order. One that can't be read fails only who has asked for it. */
  readonly byAnyId: Statement<Row | UnreadableRow>;
  /** A method, so that look-ups of all kinds have a common type. */
  idOf(row: Row): string;
}

/** `select` is the statement up to the id. */
export function lookUpOf<Row>(
  select: string,
  columns: number,
  decode: Statement<Row>['decode'],
  idOf: (row: Row) => string,
): LookUp<Row> {
  const areFor = (rows: readonly (Row | UnreadableRow | undefined)[], [asked]: StatementValues): boolean => {
    const ids = new Set<unknown>(Array.isArray(asked) ? asked : [asked]);
    return rows.every((row) => row === undefined || ids.has(row instanceof UnreadableRow ? row.id : idOf(row)));
  };
  return {
    byId: { ...statementOf(`${select} $1::bigint`, columns, decode), areFor },
    byAnyId: { ...statementOf(`${select} any($1::bigint[])`, columns, readAlone(decode)), areFor },
    idOf,
  };
}

/** Reads a row, or why it can't be read: it fails only who needs it, and no statement that has done its work. */
export function readAlone<Row>(decode: Statement<Row>['decode']): Statement<Row | UnreadableRow>['decode'] {
  return (fields) => {
    try {
      return decode(fields);
    } catch (error) {
      if (error instanceof UnreadableRow) return error;
      throw error;
    }
  };
}

/**
 * How the work of a transaction is done: by itself; or, where it only inserts, perhaps together with other such work;
 * or, where it has several writes, within a deadline, and a read that fails doesn't end it.
 */
export type TransactionMode = 'plain' | 'insertion' | 'atomic';

/**
 * Runs statements: on the process's connections, each in its own transaction, or inside one transaction.
 *
 * Throws the failures of `failures.ts`.
 */
export interface Session {
  /** For whom it runs them. */
  readonly caller: Caller;
  /**
   * Outside of transactions, statements with a form for many (`many`) are sent together when they come at the same time.
   *
   * `locks` are sent before the statement, which sees all that was committed while they waited for their rows. (One
   * that waits itself reads again the row that it waited for, and no other.)
   */
  run<Row>(statement: Statement<Row>, values: StatementValues, locks?: readonly Query<unknown>[]): Promise<Row[]>;
  /**
   * Runs a statement whose rows are not needed. In a transaction it is sent with the next one, or with COMMIT, which
   * fails when it fails.
   */
  defer(statement: Statement<unknown>, values: StatementValues): Promise<void>;
  /** The row with this id, or undefined. Outside of transactions, several at the same time may be one statement. */
  lookUp<Row>(lookUp: LookUp<Row>, id: string): Promise<Row | undefined>;
  /** Commits the work, or rolls it back when it throws. Inside a transaction the work joins that one. */
  transaction<T>(work: (session: Session) => Promise<T>, kind?: TransactionMode): Promise<T>;
  /** Does the work on the connection of a transaction: of this one, or of one of its own, which is then committed. */
  withLease<T>(work: (lease: ConnectionLease) => Promise<T>): Promise<T>;
}

/** One query that does what these do, which are of one statement with a form for many. */
export function together<Row>([first, ...others]: readonly Query<Row>[]): Query<Row> {
  if (first === undefined) throw new Error('There are no queries.');
  const { many } = first.statement;
  if (others.length === 0 || many === undefined) return first;
  const all = [first, ...others];
  const lists = first.values.map((_, index) => {
    const list = all.map(({ values }) => values[index] ?? null);
    return many.common !== undefined && index === first.values.length - 1 ? many.common(list) : list.map(elementOf);
  });
  return { statement: many, values: lists };
}

/** A list is its text: `unnest` would flatten lists of lists. */
function elementOf(value: Parameter): Scalar {
  return typeof value === 'object' ? toText(value) : value;
}

/**
 * A statement whose rows are objects of its columns, by their names: for what is read rarely. An int64 must be selected
 * as text, which is exact. What is read is a copy: it keeps nothing else alive (`row-parser.ts`).
 */
export function objectStatement<Row>(text: string): Statement<Row> {
  return statementOf(
    `select row_to_json(found)::text from (${text}) as found`,
    1,
    ([json]) => JSON.parse(json as string) as Row,
  );
}

const integer = /^-?\d+$/;
/** Characters that JSON writes as sequences that the text of an array doesn't have. */
const escapedInJson = /[^\x20-\ud7ff\ue000-\uffff]/;

/** The parameter as PostgreSQL reads it. */
export function toText(value: Parameter): string | null {
  if (value === null) return null;
  return typeof value === 'object' ? `{${value.map(elementText).join(',')}}` : String(value);
}

/**
 * Most elements are ids, which need no quotes. In a string of JSON, quotes and backslashes are escaped as here; to
 * write one takes a fifth of the time.
 */
function elementText(value: Scalar): string {
  if (value === null) return 'NULL';
  const text = String(value);
  if (integer.test(text)) return text;
  return escapedInJson.test(text) ? `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"` : JSON.stringify(text);
}

/**
 * Records a statement that has ended as a span, with its text, in which parameters are `$1`, and without their values.
 *
 * The span is a child of the first request that it serves, and linked to each when there are several. Nothing where
 * none of them is traced.
 */
export function recordStatement(text: string, callers: readonly Caller[], startTime: number, error: unknown): void {
  // Almost always: without an SDK of OpenTelemetry.
  if (callers.every(({ span }) => span === undefined)) return;
  const [first, ...others] = callers.flatMap(({ span }) => span ?? []);
  if (first === undefined) return;
  const links = others.length > 0 ? [first, ...others].map((each) => ({ context: each.spanContext() })) : [];
  const attributes = { 'db.system.name': 'postgresql', 'db.query.text': text.slice(0, maxTextLength) };
  const options = { kind: SpanKind.CLIENT, startTime, links, attributes };
  const [verb = 'statement'] = /[a-z]+/i.exec(text) ?? [];
  const span = tracer.startSpan(verb.toUpperCase(), options, trace.setSpan(ROOT_CONTEXT, first));
  if (error !== null && error !== undefined) {
    const { code } = error as { readonly code?: unknown };
    if (typeof code === 'string') span.setAttribute('db.response.status_code', code);
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}

/** Records what was sent for a caller when it has ended. */
export function traced<Result>(caller: Caller | undefined, text: () => string, sent: Promise<Result>): Promise<Result> {
  if (caller?.span === undefined) return sent;
  const sentAt = performance.now();
  const record = (error: unknown): void => recordStatement(text(), [caller], sentAt, error);
  sent.then(() => record(undefined), record);
  return sent;
}
