import type { MetadataStorage } from '@mikro-orm/core';

import { ApiKey } from '../../domain/access/api-key.entity.ts';
import { apiKeySorting, type ApiKeyReads } from '../../domain/access/api-key.reads.ts';
import { tableOf } from '../entity-table.ts';
import { createListingReads } from './listing.ts';
import type { StatementRunner } from './statement.ts';

/** The list of keys for administrators. */
export function createApiKeyReads(metadata: MetadataStorage, run: StatementRunner): ApiKeyReads {
  const { column, millis } = columnsOf(metadata);
  return createListingReads(
    {
      sorting: apiKeySorting,
      from: metadata.get(ApiKey).tableName,
      columns: {
        id: column('id'),
        name: column('name'),
        prefix: column('prefix'),
        plan: column('plan'),
        requestsPerMinute: column('requestsPerMinute'),
        requestsPerDay: column('requestsPerDay'),
        scopes: column('scopes'),
        createdAt: millis('createdAt'),
        expiresAt: millis('expiresAt'),
        revokedAt: millis('revokedAt'),
        bannedUntil: millis('bannedUntil'),
        previousSecretExpiresAt: millis('previousSecretExpiresAt'),
      },
      id: column('id'),
      by: { ID: [{ column: column('id'), property: 'id' }] },
      conditions: () => [],
      parseRow: (row) => Object.assign(row, Object.fromEntries(instants.map((each) => [each, asDate(row[each])]))),
    },
    run,
  );
}

const instants = ['createdAt', 'expiresAt', 'revokedAt', 'bannedUntil', 'previousSecretExpiresAt'] as const;

/** They are read as milliseconds: the driver leaves dates as texts. */
function asDate(millis: unknown): Date | null {
  return millis === null ? null : new Date(Number(millis));
}

interface Columns {
  readonly column: (property: keyof ApiKey & string) => string;
  /** An instant, in milliseconds since 1970. */
  readonly millis: (property: keyof ApiKey & string) => string;
}

export function columnsOf(metadata: MetadataStorage): Columns {
  const { column } = tableOf(metadata.get(ApiKey));
  return { column, millis: (property) => `(extract(epoch from ${column(property)}) * 1000)::float8` };
}
