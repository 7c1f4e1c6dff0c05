import type { SortedTypeName, SortValue } from '../../domain/value-types.ts';
import type { Parameter } from '../../platform/postgres/index.ts';

export interface ColumnType {
  /** The types of its columns, as the entities' metadata have them. */
  readonly columns: RegExp;
  /** Of a placeholder that is compared with a column in the order of a list. */
  readonly cast: string;
  /** It may be long. */
  readonly isText?: true;
  /** No parameter is a list of such values. */
  readonly isNested?: true;
  /** The expression that reads a column; undefined when it is the column. */
  readonly read?: (column: string) => string;
  /** Converts the text that was read to the property; undefined when they are the same. */
  readonly parse?: (text: string) => unknown;
  /** Whether JavaScript has the value; undefined when it has all. */
  readonly isKnown?: (value: unknown) => boolean;
  /** The same of a column, in SQL. */
  readonly known?: (column: string) => string;
  /** The parameter for a value; undefined when they are the same. */
  readonly parameter?: (value: unknown) => Parameter;
  /** The parameter for a position in a list; undefined when they are the same. */
  readonly positionParameter?: (position: string | number) => Parameter;
  /** Reads the value of a row of the log, as `loggedNumber` has it; undefined for one that the column can't have. */
  readonly logged: (value: unknown) => unknown;
}

/** An instant in SQL, in milliseconds since 1970. */
export function millisOf(instant: string): string {
  return `(extract(epoch from ${instant}) * 1000)::float8`;
}

/** JavaScript's range, which infinity is beyond. */
const maxDateSeconds = 8.64e12;
/** `Date` would take any text with a number for one. */
const dateAndTime = /^\d{4}-\d\d-\d\dT/;

type OtherTypeName = 'boolean' | 'id' | 'uuid' | 'real' | 'json' | 'list';

/** The types of columns: those by which lists are sorted, and others. */
const columnTypes: Readonly<Record<SortedTypeName | OtherTypeName, ColumnType>> = {
  text: {
    columns: /^(text|varchar.*)$/,
    cast: 'text collate "C"',
    isText: true,
    logged: (value) => (typeof value === 'string' ? value : undefined),
  },
  integer: {
    columns: /^(int|smallint)$/,
    cast: 'int',
    parse: Number,
    isKnown: Number.isFinite,
    logged: (value) => (isInteger(value, 32) ? Number(value) : undefined),
  },
  /** A text as PostgreSQL writes it, with all digits of its scale, which is exact. */
  decimal: {
    columns: /^(numeric|decimal)/,
    cast: 'numeric',
    logged: (value) => {
      if (value instanceof WrittenNumber) return value.text;
      return typeof value === 'bigint' ? String(value) : undefined;
    },
  },
  /** Read as milliseconds, because the driver's own parsing of dates loses years before 100 and old offsets. */
  instant: {
    columns: /^timestamptz/,
    cast: 'timestamptz',
    read: millisOf,
    parse: (text) => new Date(Number(text)),
    isKnown: (value) => !Number.isNaN((value as Date).getTime()),
    known: (column) => `abs(extract(epoch from ${column})) <= ${maxDateSeconds}`,
    parameter: (value) => (value as Date).toISOString(),
    positionParameter: (millis) => new Date(millis).toISOString(),
    logged: (value) => (typeof value === 'string' && dateAndTime.test(value) ? new Date(value) : undefined),
  },
  boolean: {
    columns: /^boolean$/,
    cast: 'boolean',
    parse: (text) => text === 't',
    logged: (value) => (typeof value === 'boolean' ? value : undefined),
  },
  /** An int64, which is exact as a text. */
  id: {
    columns: /^bigint$/,
    cast: 'bigint',
    logged: (value) => (isInteger(value, 64) ? String(value) : undefined),
  },
  uuid: {
    columns: /^uuid$/,
    cast: 'uuid',
    logged: (value) => (typeof value === 'string' ? value : undefined),
  },
  real: {
    columns: /^(float|double|real)/,
    cast: 'float8',
    parse: Number,
    isKnown: Number.isFinite,
    logged: () => undefined,
  },
  json: {
    columns: /^jsonb$/,
    cast: 'jsonb',
    isNested: true,
    read: jsonTextOf,
    parse: parseJson,
    parameter: (value) => JSON.stringify(value),
    logged: () => undefined,
  },
  list: {
    columns: /\[\]$/,
    cast: 'text[]',
    isNested: true,
    read: jsonTextOf,
    parse: parseJson,
    logged: () => undefined,
  },
};

/** A number in a row of the log that is no integer: its digits, of which a number would lose some. */
class WrittenNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Longer ones are in no column: to make them would take as long as a writer of the log wants. */
const integer = /^-?\d{1,19}$/;

/** A number in a row of the log, of its text: an integer is a bigint, so that an int64 is exact. */
export function loggedNumber(text: string): unknown {
  return integer.test(text) ? BigInt(text) : new WrittenNumber(text);
}

/** By the names that the entities' metadata have: it is asked for each value that is written. */
const found = new Map<string, ColumnType>();

/** Throws for a type that isn't in the table. */
export function columnTypeOf(name: string): ColumnType {
  const type = found.get(name) ?? Object.values(columnTypes).find(({ columns }) => columns.test(name));
  if (type === undefined) throw new Error(`Columns of type ${name} need a row in database/sql/value-types.ts.`);
  found.set(name, type);
  return type;
}

/** The parameter for a position in the order of such a column. */
export function positionParameter({ positionParameter: convert }: ColumnType, position: SortValue): Parameter {
  return position === null || convert === undefined ? position : convert(position);
}

function jsonTextOf(column: string): string {
  return `to_json(${column})::text`;
}

function parseJson(text: string): unknown {
  return JSON.parse(text);
}

function isInteger(value: unknown, bits: number): boolean {
  return typeof value === 'bigint' && BigInt.asIntN(bits, value) === value;
}
