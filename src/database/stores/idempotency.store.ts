import type { MetadataStorage } from '@mikro-orm/core';

import { IdempotencyRecord, type StoredResult } from '../../domain/idempotency/idempotency-record.entity.ts';
import type { ClaimedKey, IdempotencyStore } from '../../domain/idempotency/idempotency.store.ts';
import { EntityTable } from '../sql/entity-table.ts';
import type { Session } from '../../postgres/session.ts';
import { FixedStatement } from '../../postgres/statement.ts';

export function createIdempotencyStore(metadata: MetadataStorage): (session: Session) => IdempotencyStore {
  const { primaryKeys, props } = metadata.get(IdempotencyRecord);
  const table = new EntityTable(metadata.get(IdempotencyRecord));
  const properties = props.map(({ name }) => name);
  const names = (some: readonly string[]): string => some.map((each) => table.columnName(each as never)).join(', ');
  const createdAt = table.columnName('createdAt');
  const claim = new FixedStatement(
    `select ${claimed('$1::text, $2::text, $3::text, $4::text[], $5::timestamptz')}`,
    ([json]) => String(json),
    'write',
    new FixedStatement(
      `select ${claimed('owner, key, lock, fields::text[], since')}
       from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[])
         with ordinality as wanted (owner, key, lock, fields, since, index)
       order by index`,
      ([json]) => String(json),
      'write',
    ),
  );
  const others = properties.filter((each) => !primaryKeys.includes(each as never));
  const save = new FixedStatement(
    `insert into ${table.name} (${names(properties)})
     values (${properties.map((each, index) => `$${index + 1}::${table.columnType(each)}`).join(', ')})
     on conflict (${names(primaryKeys)}) do update
     set ${others.map((each) => `${names([each])} = excluded.${names([each])}`).join(', ')}`,
    () => undefined,
    'write',
  );
  const saveFields = new FixedStatement(
    `insert into graphql_idempotency_records (principal_id, key, field, fingerprint, payload, created_at)
     select $1::text, $2::text, field, fingerprint, payload::jsonb, $6::timestamptz
     from unnest($3::text[], $4::text[], $5::text[]) as record (field, fingerprint, payload)
     on conflict (principal_id, key, field) do update
     set fingerprint = excluded.fingerprint, payload = excluded.payload, created_at = excluded.created_at`,
    () => undefined,
    'write',
  );
  const deletions = [
    { name: table.name, keys: names(primaryKeys) },
    { name: 'graphql_idempotency_records', keys: 'principal_id, key, field' },
  ].map(
    ({ name, keys }) =>
      new FixedStatement(
        `delete from ${name} where (${keys}) in (
           select ${keys} from ${name} where ${createdAt} <= $1::timestamptz limit $2::int for update skip locked
         ) returning 1`,
        () => true,
        'write',
      ),
  );
  return (session) => ({
    claim: async ({ principalId, key }, fields, since) => {
      const lock = JSON.stringify([principalId, key]);
      const [json = '[]'] = await session.run(claim.with([principalId, key, lock, fields, since.toISOString()]));
      return claimedKey(JSON.parse(json) as readonly Claimed[]);
    },
    save: async (record) => {
      await session.defer(save.with(properties.map((each) => table.parameter(each, record[each]))));
    },
    saveFields: async ({ principalId, key }, records, savedAt) => {
      const lists = [
        records.map(({ field }) => field),
        records.map(({ fingerprint }) => fingerprint),
        records.map(({ result }) => JSON.stringify(result)),
      ];
      await session.defer(saveFields.with([principalId, key, ...lists, savedAt.toISOString()]));
    },
    deleteUntil: async (until, limit) => {
      let most = 0;
      for (const deletion of deletions) {
        const deleted = await session.run(deletion.with([until.toISOString(), limit]));
        most = Math.max(most, deleted.length);
      }
      return most;
    },
  });
}

/** The records of a key as one JSON text. */
function claimed(parameters: string): string {
  return `(select coalesce(json_agg(record), '[]') from claim_idempotency_key(${parameters}) as record)`;
}

interface Claimed {
  readonly kind: 'running' | 'response' | 'field' | 'other';
  readonly field: string;
  readonly fingerprint: string;
  readonly result: string;
}

/** Undefined while another transaction has the key. */
function claimedKey(rows: readonly Claimed[]): ClaimedKey | undefined {
  const outcomes = rows.map(({ kind, field, fingerprint, result }) => ({
    kind,
    field,
    outcome: { fingerprint, result: result === '' ? {} : (JSON.parse(result) as StoredResult) },
  }));
  if (outcomes.some(({ kind }) => kind === 'running')) return undefined;
  return {
    response: outcomes.find(({ kind }) => kind === 'response')?.outcome,
    fields: new Map(outcomes.filter(({ kind }) => kind === 'field').map(({ field, outcome }) => [field, outcome])),
    hasOthers: outcomes.some(({ kind }) => kind === 'other'),
  };
}
