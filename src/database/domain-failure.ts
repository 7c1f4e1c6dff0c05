import { type MetadataStorage, ReferenceKind } from '@mikro-orm/core';

import { DomainError, unavailable, unreadable } from '../domain/errors.ts';
import { ForeignKeyViolation } from '../domain/store.ts';
import {
  DatabaseUnavailable,
  failureOf,
  ForeignKeyError,
  type NoFreeConnection,
  type UnavailableReason,
  UnreadableRow,
} from '../platform/postgres/index.ts';

const again = 'Try again in a few seconds.';

const messages: Readonly<Partial<Record<UnavailableReason, (cause: unknown) => string>>> = {
  busy: (cause) => waitedTooLong((cause as Partial<NoFreeConnection>).waitedFor ?? 'a database connection'),
  locked: () => waitedTooLong("a row's lock, or a table's, which another transaction holds"),
  deadlock: () => `Changes at the same time have waited for each other, and this one was undone. ${again}`,
  deadline: () => `A transaction has taken longer than it may: the database is busy. ${again}`,
  timeout: () =>
    `This has taken the database too long: it is busy, or another change has locked the same rows. ${again}`,
};

function waitedTooLong(what: string): string {
  return `The store is busy: this has waited too long for ${what}. ${again}`;
}

/** The properties that name other rows, by their foreign keys. */
export type References = ReadonlyMap<string, string>;

/** PostgreSQL names the foreign key of `category_id` of `pets` `pets_category_id_fkey`. */
export function referencesIn(metadata: MetadataStorage): References {
  const entities = [...metadata.getAll().values()];
  return new Map(
    entities.flatMap(({ tableName, relations }) =>
      // A link of many to many has no column of its own.
      relations
        .filter(({ kind }) => kind !== ReferenceKind.MANY_TO_MANY)
        .map(({ name, fieldNames: [column] }) => [`${tableName}_${column}_fkey`, name] as const),
    ),
  );
}

const domainFailures = new WeakMap<Error, Error>();

/** UNAVAILABLE, or `ForeignKeyViolation`, which knows its property by `references`; any other error is itself. */
export function domainFailureOf(error: unknown, references?: References): Error {
  const failure = failureOf(error);
  const known = domainFailures.get(failure);
  if (known !== undefined) return known;
  const translated = translate(failure, references);
  // The statements of a caller that has lost the database fail with one error.
  if (translated !== failure) domainFailures.set(failure, translated);
  return translated;
}

function translate(error: Error, references?: References): Error {
  if (error instanceof DatabaseUnavailable) {
    const message = messages[error.reason]?.(error.cause);
    if (message === undefined) return unavailable(error);
    return new DomainError('UNAVAILABLE', message, { retryAfterSeconds: 2, cause: error, tooLong: error.subject });
  }
  if (error instanceof ForeignKeyError) {
    return new ForeignKeyViolation(references?.get(error.constraint ?? ''), error);
  }
  return error instanceof UnreadableRow ? unreadable(error) : error;
}
