import { earliestInstant, latestInstant } from './instant.ts';

/** As a position in a list has it, and its cursor as JSON: null when the row has no value. */
export type SortValue = string | number | null;

interface SortedType {
  /** Of the value of a row's property. */
  readonly position: (value: unknown) => SortValue;
  /** Whether a cursor can have it. */
  readonly isPosition: (value: unknown) => boolean;
}

/**
 * The types of values that lists are sorted by: text by code point, an int32, a decimal with all its digits, and an
 * instant in milliseconds since 1970.
 *
 * What a type is besides has a row in each of the other tables: columns in `database/sql/value-types.ts`, scalars in
 * `graphql/date-time.scalar.ts`, formats in `rest/domain-rules.ts`.
 */
export const sortedTypes = {
  text: {
    position: (value) => value as string,
    isPosition: (value) => typeof value === 'string' && value.isWellFormed() && !value.includes('\0'),
  },
  integer: {
    position: (value) => value as number,
    isPosition: (value) => Number.isInteger(value) && Math.abs(value as number) < 2 ** 31,
  },
  decimal: {
    position: (value) => value as string,
    isPosition: (value) => typeof value === 'string' && /^-?\d{1,20}(\.\d{1,20})?$/.test(value),
  },
  instant: {
    position: (value) => (value as Date).getTime(),
    isPosition: (value) =>
      Number.isInteger(value) && (value as number) >= earliestInstant && (value as number) <= latestInstant,
  },
} as const satisfies Readonly<Record<string, SortedType>>;

export type SortedTypeName = keyof typeof sortedTypes;
