import type { MetadataStorage } from '@mikro-orm/core';

import { ApiKey } from '../../domain/access/api-key.entity.ts';
import type { KeyChanges, KeyRecord, KeyRecords, KeyVersion, NamedKeyChange } from '../../domain/access/key-records.ts';
import { planLimits, planNames, type StoredPlan } from '../../domain/access/plan.ts';
import type { DomainError } from '../../domain/errors.ts';
import { objectStatement, type Session, UnreadableRow } from '../../platform/postgres/index.ts';
import { EntityTable } from '../sql/entity-table.ts';
import { millisOf } from '../sql/value-types.ts';
import { domainFailureOf } from '../domain-failure.ts';
import { ApiKeyChange } from '../../domain/access/api-key-change.entity.ts';
import type { Id } from '../../domain/id.ts';

/** More changes than this are looked up by the ids of the keys. */
const maxChanges = 1_000;

interface KeyRow extends Omit<KeyRecord, 'bans' | 'failure'> {
  readonly bannedUntil: number | null;
  readonly banEpoch: number;
  readonly automaticBans: readonly number[];
}

/** Columns of the key are null where only the state was found. */
type NewsRow = KeyRow & { readonly changes: string; readonly deletions: string; readonly isChange: boolean };

function unknownIn({ plan, ...figures }: StoredPlan) {
  if (!planNames.includes(plan)) return 'plan';
  if (planLimits[plan] !== undefined) return undefined;
  return (['requestsPerMinute', 'requestsPerDay'] as const).find((figure) => figures[figure] === null);
}

/** The columns that authentication needs. */
export function createKeyRecords(metadata: MetadataStorage, session: Session): KeyRecords {
  const entityTable = new EntityTable(metadata.get(ApiKey));
  const table = entityTable.name;
  const column = (property: keyof ApiKey & string): string => entityTable.column(property);
  const millis = (property: keyof ApiKey & string): string => millisOf(column(property));
  const keyRecordOf = ({ bannedUntil, banEpoch, automaticBans, ...key }: KeyRow): KeyRecord => {
    const unknown = unknownIn(key);
    const failure = unknown && domainFailureOf(new UnreadableRow(table, key.id, unknown, key[unknown]));
    return {
      ...key,
      bans: { epoch: banEpoch, bannedUntil: bannedUntil ?? 0, automaticBans },
      failure: failure as DomainError | undefined,
    };
  };
  const columns = `${column('id')}::text as "id", ${column('sha256')} as "sha256", ${column('previousSha256')} as "previousSha256",
    ${millis('previousSecretExpiresAt')} as "previousSecretExpiresAt", ${column('name')} as "name", ${column('plan')} as "plan",
    ${column('requestsPerMinute')} as "requestsPerMinute", ${column('requestsPerDay')} as "requestsPerDay",
    ${column('scopes')} as "scopes", ${millis('expiresAt')} as "expiresAt", ${millis('revokedAt')} as "revokedAt",
    ${millis('bannedUntil')} as "bannedUntil", ${column('banEpoch')} as "banEpoch",
    ${column('automaticBans')}::float8[] as "automaticBans"`;
  const named = (hash: string): string =>
    `select false as "isChange", ${columns} from ${table} where ${hash} = any($2::text[])`;
  // The upper bound excludes versions that uncommitted transactions have already taken.
  const news = objectStatement<NewsRow>(`
    select state.version::text as "changes", state.deletions::text as "deletions", found.*
    from (select version, deletions from api_key_state limit 1) as state left join lateral (
      (select true as "isChange", ${columns} from ${table}
        where version > $1::bigint and version <= state.version order by version limit ${maxChanges + 1})
      union all ${named(column('sha256'))}
      union all ${named(column('previousSha256'))}
    ) as found on true`);
  const byIds = objectStatement<KeyRow>(`select ${columns} from ${table} where ${column('id')} = any($1::bigint[])`);
  return {
    read: async (hashes, since) => {
      const rows = await session.run(news, [since?.changes ?? largest, hashes]);
      const latest = { changes: rows[0]?.changes ?? '0', deletions: rows[0]?.deletions ?? '0' };
      const hasTooMany = rows.filter(({ isChange }) => isChange).length > maxChanges;
      const keys = rows.filter(({ id }) => id !== null).map(keyRecordOf);
      return { latest, keys, isComplete: !hasTooMany && (since === undefined || isContinued(since, latest)) };
    },
    readByIds: async (ids) => (await session.run(byIds, [ids])).map(keyRecordOf),
  };
}

/** The largest version, and the largest id: nothing comes after it. */
const largest = String(2n ** 63n - 1n);

/** Whether the changes are complete: not after keys were deleted, nor after an older backup was restored. */
function isContinued(since: KeyVersion, latest: KeyVersion): boolean {
  return since.deletions === latest.deletions && BigInt(since.changes) <= BigInt(latest.changes);
}

interface ChangeRow extends Omit<NamedKeyChange, 'id' | 'at'> {
  readonly latest: Id;
  /** Null where there is no change. */
  readonly id: Id | null;
  /** In milliseconds since 1970. */
  readonly at: number;
}

export function createKeyChanges(metadata: MetadataStorage, session: Session): KeyChanges {
  const history = new EntityTable(metadata.get(ApiKeyChange));
  const keys = new EntityTable(metadata.get(ApiKey));
  const [id, keyId, changes] = (['id', 'keyId', 'changes'] as const).map((name) => history.column(name));
  const after = objectStatement<ChangeRow>(`
    select newest.id::text as "latest", found.*
    from (select coalesce(max(${id}), 0) as id from ${history.name}) as newest left join lateral (
      select ${id}::text as "id", ${keyId}::text as "keyId", ${millisOf(history.column('at'))} as "at",
        ${history.column('by')} as "by", ${history.column('action')} as "action", ${changes} as "changes",
        coalesce(${keys.column('name')}, ${changes} -> 'name' ->> 'from') as "name"
      from ${history.name} left join ${keys.name} on ${keys.column('id')} = ${keyId}
      where ${id} > $1::bigint and ${id} <= newest.id order by ${id} limit $2::int
    ) as found on true`);
  return {
    readAfter: async (latestId, limit) => {
      const rows = await session.run(after, [latestId ?? largest, limit]);
      const found = rows.flatMap(({ latest: _latest, ...row }) =>
        row.id === null ? [] : [{ ...row, id: row.id, at: new Date(row.at) }],
      );
      return { latest: (rows[0] as ChangeRow).latest, changes: found };
    },
  };
}
