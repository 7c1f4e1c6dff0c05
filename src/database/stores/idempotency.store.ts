import type { MetadataStorage } from '@mikro-orm/core';

import { IdempotencyRecord, type StoredResult } from '../../domain/idempotency/idempotency-record.entity.ts';
import type { ClaimedKey, IdempotencyStore } from '../../domain/idempotency/idempotency.store.ts';
import { EntityTable } from '../sql/entity-table.ts';
import { type Session, type Statement, statementOf } from '../../platform/postgres/index.ts';

const noRecords = null;

const claim = statementOf(
  `select ${claimed('$1::text, $2::text, $3::text, $4::text[], $5::timestamptz')}`,
  1,
  ([json]) => json ?? noRecords,
  'write',
  {
    expected: noRecords,
    many: statementOf(
      `select ${claimed('owner, key, lock, fields::text[], since')}
       from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[])
         with ordinality as wanted (owner, key, lock, fields, since, index)
       order by index`,
      1,
      ([json]) => json ?? noRecords,
      'write',
    ),
  },
);

const saveField = savingStatement('graphql_idempotency_records', 3, [
  { name: 'principal_id', type: 'text' },
  { name: 'key', type: 'text' },
  { name: 'field', type: 'text' },
  { name: 'fingerprint', type: 'text' },
  { name: 'payload', type: 'jsonb' },
  { name: 'created_at', type: 'timestamptz' },
]);

export function createIdempotencyStore(metadata: MetadataStorage): (session: Session) => IdempotencyStore {
  const { primaryKeys, props } = metadata.get(IdempotencyRecord);
  const table = new EntityTable(metadata.get(IdempotencyRecord));
  const properties = props.map(({ name }) => name);
  const names = (some: readonly string[]): string => some.map((each) => table.columnName(each)).join(', ');
  const createdAt = table.columnName('createdAt');
  const save = savingStatement(
    table.name,
    primaryKeys.length,
    properties.map((each) => ({ name: names([each]), type: table.columnType(each) })),
  );
  const deletions = [
    { name: table.name, keys: names(primaryKeys) },
    { name: 'graphql_idempotency_records', keys: 'principal_id, key, field' },
  ].map(({ name, keys }) =>
    statementOf(
      `delete from ${name} where (${keys}) in (
           select ${keys} from ${name} where ${createdAt} <= $1::timestamptz limit $2::int for update skip locked
         ) returning 1`,
      1,
      () => true,
      'write',
    ),
  );
  return (session) => ({
    claim: async ({ principalId, key }, fields, since) => {
      const lock = JSON.stringify([principalId, key]);
      const [json] = await session.run(claim, [principalId, key, lock, fields, since.toISOString()]);
      return typeof json === 'string' ? claimedKey(JSON.parse(json) as readonly Claimed[]) : unclaimed;
    },
    save: async (record) => {
      await session.defer(
        save,
        properties.map((each) => table.parameter(each, record[each])),
      );
    },
    saveFields: async ({ principalId, key }, records, savedAt) => {
      const at = savedAt.toISOString();
      for (const { field, fingerprint, result } of records)
        await session.defer(saveField, [principalId, key, field, fingerprint, JSON.stringify(result), at]);
    },
    deleteUntil: async (until, limit) => {
      let most = 0;
      for (const deletion of deletions) {
        const deleted = await session.run(deletion, [until.toISOString(), limit]);
        most = Math.max(most, deleted.length);
      }
      return most;
    },
  });
}

/** Inserts a row, or replaces that with the same key: the first columns. */
function savingStatement(
  table: string,
  keys: number,
  columns: readonly { readonly name: string; readonly type: string }[],
): Statement<undefined> {
  const names = columns.map(({ name }) => name);
  const changes = names.slice(keys).map((name) => `${name} = excluded.${name}`);
  const insertionOf = (rows: string, many?: Statement<undefined>): Statement<undefined> => {
    const text = `insert into ${table} (${names.join(', ')}) ${rows}
      on conflict (${names.slice(0, keys).join(', ')}) do update set ${changes.join(', ')}`;
    return statementOf(text, 0, noRow, 'write', { many });
  };
  const values = columns.map(({ type }, index) => `$${index + 1}::${type}`);
  const lists = values.map((value) => `${value}[]`);
  return insertionOf(`values (${values.join(', ')})`, insertionOf(`select * from unnest(${lists.join(', ')})`));
}

function noRow(): undefined {
  return undefined;
}

/** The records of a key as one JSON text; null without any. */
function claimed(parameters: string): string {
  return `(select json_agg(record) from claim_idempotency_key(${parameters}) as record)`;
}

interface Claimed {
  readonly kind: 'running' | 'response' | 'field' | 'other';
  readonly field: string;
  readonly fingerprint: string;
  readonly result: string;
}

const unclaimed: ClaimedKey = { response: undefined, fields: new Map(), hasOthers: false };

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
