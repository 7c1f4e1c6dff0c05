import type { MetadataStorage } from '@mikro-orm/core';

import { ApiKeyChange, isUnset } from '../../domain/access/api-key-change.entity.ts';
import { ApiKeyUsage } from '../../domain/access/api-key-usage.entity.ts';
import { ApiKey } from '../../domain/access/api-key.entity.ts';
import {
  apiKeyList,
  historyList,
  type ApiKeyRelation,
  type ApiKeyStore,
  type KeyStatus,
  type ListedKey,
} from '../../domain/access/api-key.store.ts';
import { planLimits } from '../../domain/access/plan.ts';
import { dayMillis, minuteMillis } from '../../platform/quotas/index.ts';
import type { Id } from '../../domain/id.ts';
import type { RowData } from '../../domain/store.ts';
import type { WithEntities } from '../entity-manager.ts';
import { type Conditions, unserved } from '../sql/conditions.ts';
import { EntityTable } from '../sql/entity-table.ts';
import { listSource } from '../sql/list-source.ts';
import { hasOne } from '../sql/selection.ts';
import type { Session } from '../../platform/postgres/index.ts';
import { TableReads } from '../sql/table-reads.ts';
import { ReadOnlyStore } from '../sql/table-store.ts';
import { TableWrites } from '../sql/table-writes.ts';

/** Columns that administrators don't see. */
const unlisted = ['sha256', 'previousSha256', 'banEpoch', 'automaticBans'] as const;

export function createApiKeyStore(
  metadata: MetadataStorage,
  withEntities: WithEntities,
): (session: Session) => ApiKeyStore {
  const table = new EntityTable(metadata.get(ApiKey));
  const usage = new EntityTable(metadata.get(ApiKeyUsage));
  const relations = { usage: hasOne(table, 'usage', usage, 'keyId') };
  const source = listSource(table, apiKeyList, relations, {
    status: ({ status = 'active', at = 0 }) => isOfStatus(table, status, at),
    nearLimitPercent: ({ nearLimitPercent = 0, at = 0 }) => hasSpent(table, usage, nearLimitPercent, at),
    at: () => [],
  });
  const reads: ApiKeyReads = new TableReads({
    ...source,
    table: new EntityTable(metadata.get(ApiKey), {}, unlisted),
    // Keys are in no other order than that of their ids.
    conditions: (filter, isPerParent) => unserved(source.conditions(filter, isPerParent)),
  });
  const writes: ApiKeyWrites = new TableWrites(table, {});
  const history: HistoryReads = new TableReads(
    listSource(new EntityTable(metadata.get(ApiKeyChange)), historyList, {}),
  );
  return (session) => new SessionApiKeys(session, { reads, writes, history, withEntities });
}

type ApiKeyReads = TableReads<ListedKey, typeof apiKeyList, ApiKeyRelation>;
type ApiKeyWrites = TableWrites<ApiKey, RowData<ApiKey>>;
type HistoryReads = TableReads<ApiKeyChange, typeof historyList>;

interface MadeOnce {
  readonly reads: ApiKeyReads;
  readonly writes: ApiKeyWrites;
  readonly history: HistoryReads;
  readonly withEntities: WithEntities;
}

class SessionApiKeys extends ReadOnlyStore<ListedKey, typeof apiKeyList, ApiKeyRelation> implements ApiKeyStore {
  readonly #made: MadeOnce;

  constructor(session: Session, made: MadeOnce) {
    super(session, made.reads);
    this.#made = made;
  }

  get history(): ReadOnlyStore<ApiKeyChange, typeof historyList> {
    return new ReadOnlyStore(this.session, this.#made.history);
  }

  insert(row: RowData<ApiKey>): Promise<Id> {
    return this.#made.withEntities(this.session, (em) => em.insert(ApiKey, row));
  }

  async update(id: Id, changes: Partial<RowData<ApiKey>>): Promise<void> {
    await this.#made.withEntities(this.session, (em) => em.nativeUpdate(ApiKey, { id }, changes));
  }

  /** A statement, because the EntityManager's `for update` would keep the use of the key from being saved. */
  lock(id: Id): Promise<ApiKey | undefined> {
    return this.#made.writes.lock(this.session, id);
  }

  async forgetNames(id: Id, replacement: string): Promise<void> {
    await this.#made.withEntities(this.session, async (em) => {
      const entries = await em.find(ApiKeyChange, { keyId: id }, { orderBy: { id: 'desc' } });
      for (const entry of entries) {
        const name = entry.changes['name'];
        if (name === undefined) continue;
        const replaced = (value: unknown): string | null => (isUnset(value) ? null : replacement);
        entry.changes = { ...entry.changes, name: { from: replaced(name.from), to: replaced(name.to) } };
      }
      const [latest] = entries;
      if (latest?.action === 'updated' && latest.changes['name'] !== undefined) latest.action = 'forgotten';
      await em.flush();
    });
  }
}

/** As `statusOf` has it. */
function isOfStatus(table: EntityTable, status: KeyStatus, at: number): Conditions {
  const [revokedAt, expiresAt, bannedUntil] = (['revokedAt', 'expiresAt', 'bannedUntil'] as const).map((property) =>
    table.column(property),
  );
  const good = `${revokedAt} is null and coalesce(${expiresAt}, 'infinity') >`;
  const texts: Readonly<Record<KeyStatus, (now: () => string) => string>> = {
    revoked: () => `${revokedAt} is not null`,
    expired: (now) => `${revokedAt} is null and ${expiresAt} <= ${now()}`,
    banned: (now) => `${good} ${now()} and ${bannedUntil} > ${now()}`,
    active: (now) => `${good} ${now()} and coalesce(${bannedUntil}, '-infinity') <= ${now()}`,
  };
  return [
    {
      kind: 'filter',
      template: `status ${status}`,
      value: new Date(at).toISOString(),
      sql: (placeholder) => `(${texts[status](() => placeholder('timestamptz'))})`,
    },
  ];
}

/** The share of an open window, in percent. */
function hasSpent(table: EntityTable, usage: EntityTable, percent: number, at: number): Conditions {
  const limitOf = (figure: 'requestsPerMinute' | 'requestsPerDay'): string => {
    const plans = Object.entries(planLimits).filter(([, limits]) => limits !== undefined);
    const choices = plans.map(([plan, limits]) => `when '${plan}' then ${limits?.[figure]}`);
    return `case ${table.column('plan')} ${choices.join(' ')} else ${table.column(figure)} end::bigint`;
  };
  const minute = `${usage.column('minuteSpent')}::bigint * 100 >= ${limitOf('requestsPerMinute')}`;
  const day = `${usage.column('daySpent')}::bigint * 100 >= ${limitOf('requestsPerDay')}`;
  return [
    {
      kind: 'filter',
      template: 'near limit',
      value: [String(at - minuteMillis), String(at - dayMillis), String(percent)],
      sql: (placeholder) => {
        const value = (index: number): string => `(${placeholder('bigint[]')})[${index}]`;
        return `exists (select from ${usage.name} where ${usage.column('keyId')} = ${table.column('id')} and (
          ${usage.column('minuteOpenedAt')} > ${value(1)} and ${minute} * ${value(3)}
          or ${usage.column('dayOpenedAt')} > ${value(2)} and ${day} * ${value(3)}))`;
      },
    },
  ];
}
