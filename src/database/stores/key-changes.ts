import type { MetadataStorage } from '@mikro-orm/core';

import { ApiKeyChange } from '../../domain/access/api-key-change.entity.ts';
import { ApiKey } from '../../domain/access/api-key.entity.ts';
import type { KeyChanges, NamedKeyChange } from '../../domain/access/key-changes.ts';
import type { Id } from '../../domain/id.ts';
import { objectStatement, type Session } from '../../platform/postgres/index.ts';
import { EntityTable, millisOf } from '../sql/entity-table.ts';

interface ChangeRow extends Omit<NamedKeyChange, 'id' | 'at'> {
  readonly latest: Id;
  /** Null where there is no change. */
  readonly id: Id | null;
  /** In milliseconds since 1970. */
  readonly at: number;
}

/** The largest id. */
const lastId = String(2n ** 63n - 1n);

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
      const rows = await session.run(after, [latestId ?? lastId, limit]);
      const found = rows.flatMap(({ latest: _latest, ...row }) =>
        row.id === null ? [] : [{ ...row, id: row.id, at: new Date(row.at) }],
      );
      return { latest: (rows[0] as ChangeRow).latest, changes: found };
    },
  };
}
