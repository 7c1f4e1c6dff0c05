import type { MetadataStorage } from '@mikro-orm/core';

import { ApiKey } from '../../domain/access/api-key.entity.ts';
import {
  apiKeySorting,
  type ApiKeyReads,
  type KeyRecord,
  type KeyRecords,
  type KeyVersion,
} from '../../domain/access/api-key.reads.ts';
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
      },
      id: column('id'),
      by: { ID: [{ column: column('id'), property: 'id' }] },
      conditions: () => [],
      parseRow: (row) => Object.assign(row, Object.fromEntries(instants.map((each) => [each, asDate(row[each])]))),
    },
    run,
  );
}

const instants = ['createdAt', 'expiresAt', 'revokedAt', 'bannedUntil'] as const;

/** They are read as milliseconds: the driver leaves dates as texts. */
function asDate(millis: unknown): Date | null {
  return millis === null ? null : new Date(Number(millis));
}

type Row = Omit<KeyRecord, 'bans'> & {
  readonly latest: KeyVersion;
  readonly bannedUntil: number | null;
  readonly banEpoch: number;
  readonly automaticBans: readonly number[];
};

/** More than any version. */
const noVersion: KeyVersion = String(2n ** 63n - 1n);

/** What requests are judged by. */
export function createKeyRecords(metadata: MetadataStorage, run: StatementRunner): KeyRecords {
  const { column, millis } = columnsOf(metadata);
  const table = metadata.get(ApiKey).tableName;
  const text = `
    select newest.version::text as "latest", ${column('id')} as "id", ${column('sha256')} as "sha256", ${column('name')} as "name",
      ${column('plan')} as "plan", ${column('requestsPerMinute')} as "requestsPerMinute",
      ${column('requestsPerDay')} as "requestsPerDay", ${column('scopes')} as "scopes", ${millis('expiresAt')} as "expiresAt",
      ${millis('revokedAt')} as "revokedAt", ${millis('bannedUntil')} as "bannedUntil", ${column('banEpoch')} as "banEpoch",
      ${column('automaticBans')}::float8[] as "automaticBans"
    from (select coalesce(max(version), 0) as version from ${table}) as newest
    left join ${table} on ${table}.version > $1::bigint or ${column('sha256')} = any($2::text[])`;
  return {
    read: async (hashes, since = noVersion) => {
      const rows = await run<Row>('petstore_key_records', text, [since, hashes]);
      // Always at least one row, for the latest version; its other columns are null when there is no key.
      return { latest: rows[0]?.latest ?? '0', keys: rows.filter(({ id }) => id !== null).map(keyRecordOf) };
    },
  };
}

function keyRecordOf({ latest: _, bannedUntil, banEpoch, automaticBans, ...key }: Row): KeyRecord {
  return Object.assign(key, { bans: { epoch: banEpoch, bannedUntil: bannedUntil ?? 0, automaticBans } });
}

interface Columns {
  readonly column: (property: keyof ApiKey & string) => string;
  /** An instant, in milliseconds since 1970. */
  readonly millis: (property: keyof ApiKey & string) => string;
}

function columnsOf(metadata: MetadataStorage): Columns {
  const { column } = tableOf(metadata.get(ApiKey));
  return { column, millis: (property) => `(extract(epoch from ${column(property)}) * 1000)::float8` };
}
