import { LockMode, type MetadataStorage } from '@mikro-orm/core';

import { IdempotencyRecord, type StoredResult } from '../../domain/idempotency/idempotency-record.entity.ts';
import type { ClaimedKey, IdempotencyStore } from '../../domain/idempotency/idempotency.store.ts';
import type { WithEntities } from '../entity-manager.ts';
import { EntityTable } from '../sql/entity-table.ts';
import { commandOf, DamagedMessage, type Session, type Statement, statementOf } from '../../platform/postgres/index.ts';

const claim = statementOf(
  `select ${claimed('$1::text, $2::text, $3::text, $4::text[], $5::timestamptz')}`,
  1,
  claimedRows,
  'write',
  {
    many: statementOf(
      `select ${claimed('owner, key, lock, fields::text[], since')}
       from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[])
         with ordinality as wanted (owner, key, lock, fields, since, index)
       order by index`,
      1,
      claimedRows,
      'write',
    ),
  },
);

export function createIdempotencyStore(
  metadata: MetadataStorage,
  withEntities: WithEntities,
): (session: Session) => IdempotencyStore {
  const entity = metadata.get(IdempotencyRecord);
  const table = new EntityTable(entity);
  const properties = table.columns.map(({ property }) => property as keyof IdempotencyRecord & string);
  const columns = properties.map((each) => ({ name: table.columnName(each), type: table.columnType(each) }));
  const save = savingStatement(table.name, entity.primaryKeys.length, columns);
  return (session) => ({
    claim: async ({ principalId, key }, names, since) => {
      const lock = JSON.stringify([principalId, key]);
      const [rows] = await session.run(claim, [principalId, key, lock, names, since.toISOString()]);
      return rows ? claimedKey(rows) : unclaimed;
    },
    save: (record) =>
      session.defer(
        save,
        properties.map((each) => table.parameter(each, record[each])),
      ),
    deleteUntil: (until, limit) =>
      withEntities(session, async (em) => {
        const first = { limit, lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE, fields: ['createdAt'] } as const;
        const expired = await em.find(IdempotencyRecord, { createdAt: { $lte: until } }, first);
        for (const record of expired) em.remove(record);
        await em.flush();
        return expired.length;
      }),
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
    return commandOf(text, { many });
  };
  const values = columns.map(({ type }, index) => `$${index + 1}::${type}`);
  const lists = values.map((value) => `${value}[]`);
  return insertionOf(`values (${values.join(', ')})`, insertionOf(`select * from unnest(${lists.join(', ')})`));
}

/** The records of a key as one JSON text; null without any. */
function claimed(parameters: string): string {
  return `(select json_agg(record) from claim_idempotency_key(${parameters}) as record)`;
}

interface Claimed {
  readonly kind: 'running' | 'field' | 'other';
  readonly field: string;
  readonly fingerprint: string;
  readonly result: StoredResult;
}

const kinds: ReadonlySet<unknown> = new Set<Claimed['kind']>(['running', 'field', 'other']);

/** Throws for any other text: it would be the response to a client, or do the work again. */
function claimedRows([json = null]: readonly (string | null)[]): readonly Claimed[] | null {
  if (json === null) return null;
  const rows: unknown = JSON.parse(json);
  if (!Array.isArray(rows) || rows.length === 0) throw new DamagedMessage('it is no claim of an idempotency key');
  return rows.map(claimedRow);
}

function claimedRow(row: unknown): Claimed {
  const { kind, field, fingerprint, result: text } = isObject(row) ? row : {};
  if (!kinds.has(kind) || typeof field !== 'string' || typeof fingerprint !== 'string' || typeof text !== 'string') {
    throw new DamagedMessage('it is no record of an idempotency key');
  }
  // A result of a newer version may be anything.
  const result = text === '' ? {} : (JSON.parse(text) as StoredResult);
  return { kind: kind as Claimed['kind'], field, fingerprint, result };
}

function isObject(value: unknown): value is StoredResult {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const unclaimed: ClaimedKey = { fields: new Map(), hasOthers: false };

/** Undefined while another transaction has the key. */
function claimedKey(rows: readonly Claimed[]): ClaimedKey | undefined {
  if (rows.some(({ kind }) => kind === 'running')) return undefined;
  return {
    fields: new Map(rows.filter(({ kind }) => kind === 'field').map((row) => [row.field, row])),
    hasOthers: rows.some(({ kind }) => kind === 'other'),
  };
}
