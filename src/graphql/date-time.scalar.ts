import { GraphQLScalarType, Kind } from 'graphql';

import { parseInstant } from '../domain/instant.ts';

/** What the values of a scalar are where requests are compared, and where payloads are stored as JSON. */
export interface ScalarValues {
  /** The same for all ways to write a value. The domain reads it: what it will refuse stays as it is. */
  readonly canonical: (given: unknown) => unknown;
  /** The property of a row, of what `serialize` has made of it. */
  readonly fromJson: (stored: unknown) => unknown;
}

/** An input is passed on unchanged: the domain validates dates, once for both protocols. */
export const DateTimeScalar = new GraphQLScalarType<string, string>({
  name: 'DateTime',
  description:
    'A date and time as RFC 3339 writes it, with an offset, such as `2026-11-21T09:30:00+01:00`; returned in UTC with milliseconds.',
  specifiedByURL: 'https://scalars.graphql.org/andimarek/date-time',
  serialize: (value) => {
    if (value instanceof Date) return value.toISOString();
    throw new TypeError('DateTime can only present a Date.');
  },
  extensions: {
    canonical: canonicalInstant,
    fromJson: (stored) => new Date(stored as string),
  } satisfies ScalarValues,
  parseValue: requireString,
  parseLiteral: (node) => requireString(node.kind === Kind.STRING ? node.value : undefined),
});

function requireString(value: unknown): string {
  if (typeof value === 'string') return value;
  throw new TypeError('DateTime must be a string such as "2026-11-21T09:30:00Z".');
}

function canonicalInstant(given: unknown): unknown {
  const instant = parseInstant(given as string);
  return typeof instant === 'string' ? given : instant.toISOString();
}
