import type { DayCounter, Installation, UsageTable } from '../../platform/quotas/index.ts';
import { objectStatement, type Session, type Statement, statementOf } from '../../platform/postgres/index.ts';
import { unavailable } from '../../domain/errors.ts';

/** The larger figure of a window that several processes have saved. */
const largerOf = (table: string, openedAt: string, spent: string): string =>
  `case when ${table}.${openedAt} = excluded.${openedAt} then greatest(${table}.${spent}, excluded.${spent}) else excluded.${spent} end`;

/**
 * In the order of the keys, so that two processes never wait for each other. ADMIN_API_KEY has a day counter but no
 * usage row.
 */
const save = writing(`
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
    day_spent = ${largerOf('api_key_usage', 'day_opened_at', 'day_spent')}`);

const deleteDays = writing('delete from quota_counters where opened_at <= $1::bigint');

const loadDays = objectStatement<DayCounter>(
  'select subject_id as "subjectId", opened_at::float8 as "openedAt", spent from quota_counters',
);

function writing(text: string): Statement<undefined> {
  return statementOf(text, 0, () => undefined, 'write');
}

/** The day counters in the table `quota_counters`, and the use of keys in `api_key_usage`. */
export function createUsageTable(session: Session): UsageTable {
  return {
    loadDays: async (openedAfter) => {
      await session.run(deleteDays, [openedAfter]);
      return session.run(loadDays, []);
    },
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

const loadInstallation = objectStatement<Omit<Installation, 'prefix'>>('select id from installation');

/** Throws UNAVAILABLE when the database can't be reached. */
export async function readInstallation(session: Session): Promise<Installation> {
  const [row] = await session.run(loadInstallation, []);
  if (row === undefined) throw unavailable(new Error('The table installation has no row.'));
  return { ...row, prefix: 'petstore:quota' };
}
