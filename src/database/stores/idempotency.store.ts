import type { MetadataStorage } from '@mikro-orm/core';

import { IdempotencyRecord } from '../../domain/idempotency/idempotency-record.entity.ts';
import type { IdempotencyKey, IdempotencyStore } from '../../domain/idempotency/idempotency.store.ts';
import { EntityTable } from './entity-table.ts';
import { selectionOf } from './selection.ts';
import type { Session } from './session.ts';
import { FixedStatement } from './statement.ts';

export function createIdempotencyStore(metadata: MetadataStorage, session: Session): IdempotencyStore {
  const { primaryKeys, props } = metadata.get(IdempotencyRecord);
  const table = new EntityTable(metadata.get(IdempotencyRecord));
  const properties = props.map(({ name }) => name);
  const names = (some: readonly string[]): string => some.map((each) => table.columnName(each as never)).join(', ');
  const createdAt = table.columnName('createdAt');
  const { columns, decode } = selectionOf<IdempotencyRecord>(table, {}, []);

  const lock = new FixedStatement(
    'select pg_try_advisory_xact_lock(hashtextextended($1::text, 0))',
    ([isLocked]) => isLocked === true || isLocked === 't',
    'write',
  );
  const find = new FixedStatement(
    `select ${columns} from ${table.name} where (${names(primaryKeys)}) = ($1::text, $2::text)`,
    decode,
    'write',
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
  const deleteUntil = new FixedStatement(
    `delete from ${table.name} where (${names(primaryKeys)}) in (
       select ${names(primaryKeys)} from ${table.name} where ${createdAt} <= $1::timestamptz limit $2::int for update skip locked
     ) returning 1`,
    () => true,
    'write',
  );
  return {
    tryLock: async ({ principalId, key }) => {
      const [isLocked = false] = await session.run(lock.with([JSON.stringify([principalId, key])]));
      return isLocked;
    },
    find: async ({ principalId, key }: IdempotencyKey) => {
      const [record] = await session.run(find.with([principalId, key]));
      return record;
    },
    save: async (record) => {
      await session.run(save.with(properties.map((each) => table.parameter(each, record[each]))));
    },
    deleteUntil: async (until, limit) => {
      const deleted = await session.run(deleteUntil.with([until.toISOString(), limit]));
      return deleted.length;
    },
  };
}
