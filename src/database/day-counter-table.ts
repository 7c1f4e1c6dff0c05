import type { DayCounterTable } from '../domain/quota/day-counters.ts';
import type { StatementRunner } from './statement-runner.ts';

/** The day counters in the table `quota_counters`. */
export function createDayCounterTable(run: StatementRunner): DayCounterTable {
  return {
    load: async (openedAfter) => {
      await run('petstore_day_counters_clear', 'delete from quota_counters where opened_at <= $1', [openedAfter]);
      return run(
        'petstore_day_counters_load',
        'select subject_id as "subjectId", opened_at::float8 as "openedAt", spent from quota_counters',
        [],
      );
    },
    save: async (counters) => {
      await run(
        'petstore_day_counters_save',
        `insert into quota_counters (subject_id, opened_at, spent) select * from unnest($1::text[], $2::bigint[], $3::int[])
         on conflict (subject_id) do update set opened_at = excluded.opened_at, spent = excluded.spent`,
        [
          counters.map(({ subjectId }) => subjectId),
          counters.map(({ openedAt }) => openedAt),
          counters.map(({ spent }) => spent),
        ],
      );
    },
  };
}
