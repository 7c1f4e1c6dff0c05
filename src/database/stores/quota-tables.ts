import type { UsageTable } from '../../platform/quotas/index.ts';
import { type Session, statementOf } from '../../platform/postgres/index.ts';
import { unavailable } from '../../domain/errors.ts';
import type { WithEntities } from '../entity-manager.ts';
import { Installation } from './installation.entity.ts';
import { QuotaCounter } from './quota-counter.entity.ts';

/** The larger figure of a window that several processes have saved. */
const largerOf = (table: string, openedAt: string, spent: string): string =>
  `case when ${table}.${openedAt} = excluded.${openedAt} then greatest(${table}.${spent}, excluded.${spent}) else excluded.${spent} end`;

/**
 * In the order of the keys, so that two processes never wait for each other. ADMIN_API_KEY has a day counter but no
 * usage row.
 */
const save = statementOf(
  `
  with used as (
    select * from unnest($1::text[], $2::bigint[], $3::bigint[], $4::int[], $5::bigint[], $6::int[])
      as used (subject_id, last_used_at, minute_opened_at, minute_spent, day_opened_at, day_spent)
    order by subject_id
  ), days as (
    insert into quota_counters (subject_id, opened_at, spent)
    select subject_id, day_opened_at, day_spent from used where day_opened_at > 0
    on conflict (subject_id) do update set opened_at = excluded.opened_at,
      spent = ${largerOf('quota_counters', 'opened_at', 'spent')}
  )
  insert into api_key_usage (key_id, last_used_at, minute_opened_at, minute_spent, day_opened_at, day_spent)
  select subject_id::bigint, last_used_at, minute_opened_at, minute_spent, day_opened_at, day_spent from used
  where subject_id ~ '^[0-9]{1,19}$'
  on conflict (key_id) do update set
    last_used_at = greatest(api_key_usage.last_used_at, excluded.last_used_at),
    minute_opened_at = excluded.minute_opened_at,
    minute_spent = ${largerOf('api_key_usage', 'minute_opened_at', 'minute_spent')},
    day_opened_at = excluded.day_opened_at,
    day_spent = ${largerOf('api_key_usage', 'day_opened_at', 'day_spent')}`,
  0,
  () => undefined,
  'write',
);

export function createUsageTable(session: Session, withEntities: WithEntities): UsageTable {
  return {
    loadDays: (openedAfter) =>
      withEntities(session, async (em) => {
        await em.nativeDelete(QuotaCounter, { openedAt: { $lte: String(openedAfter) } });
        // There may be as many as keys: an entity takes 3 KB, a row 0.4.
        const rows = await em.createQueryBuilder(QuotaCounter).execute<QuotaCounter[]>();
        return rows.map(({ subjectId, openedAt, spent }) => ({ subjectId, openedAt: Number(openedAt), spent }));
      }),
    save: async (usages) => {
      const values = [
        usages.map(({ subjectId }) => subjectId),
        usages.map(({ lastUsedAt }) => lastUsedAt),
        usages.map(({ minute }) => minute.openedAt),
        usages.map(({ minute }) => minute.spent),
        usages.map(({ day }) => day.openedAt),
        usages.map(({ day }) => day.spent),
      ];
      await session.run(save, values);
    },
  };
}

/** The id of the database. Throws UNAVAILABLE when it can't be reached. */
export async function readInstallation(session: Session, withEntities: WithEntities): Promise<string> {
  const installation = await withEntities(session, (em) => em.findOne(Installation, { isOnly: true }));
  if (installation === null) throw unavailable(new Error('The table installation has no row.'));
  return installation.id;
}
