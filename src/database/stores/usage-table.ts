import type { UsageTable } from '../../platform/quotas/index.ts';
import { commandOf, type Session } from '../../platform/postgres/index.ts';
import { ApiKeyUsage } from '../../domain/access/api-key-usage.entity.ts';
import { adminId } from '../../domain/access/principal.ts';
import { unavailable } from '../../domain/errors.ts';
import type { WithEntities } from '../entity-manager.ts';
import { Installation } from './installation.entity.ts';

/** The row of ADMIN_API_KEY, which has a quota and is no key. */
const adminRow = '0';

/** The window that was saved last, of one that several processes have saved the larger figure. */
function savedLast(window: 'minute' | 'day'): string {
  const [openedAt, spent] = [`${window}_opened_at`, `${window}_spent`];
  return `${openedAt} = case excluded.${openedAt} when 0 then saved.${openedAt} else excluded.${openedAt} end,
    ${spent} = case excluded.${openedAt} when 0 then saved.${spent}
      when saved.${openedAt} then greatest(saved.${spent}, excluded.${spent}) else excluded.${spent} end`;
}

/** In the order of the keys, so that two processes never wait for each other. */
const save = commandOf(
  `
  insert into api_key_usage as saved (key_id, last_used_at, minute_opened_at, minute_spent, day_opened_at, day_spent)
  select * from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::int[], $5::bigint[], $6::int[])
  order by 1
  on conflict (key_id) do update set last_used_at = greatest(saved.last_used_at, excluded.last_used_at),
    ${savedLast('minute')}, ${savedLast('day')}`,
);

/** The use of keys in the table `api_key_usage`. */
export function createUsageTable(session: Session, withEntities: WithEntities): UsageTable {
  return {
    loadDays: (openedAfter) =>
      withEntities(session, async (em) => {
        // There may be as many as keys: an entity takes 3 KB, a row 0.4.
        const rows = await em
          .createQueryBuilder(ApiKeyUsage)
          .select(['keyId', 'dayOpenedAt', 'daySpent'])
          .where({ dayOpenedAt: { $gt: String(openedAfter) } })
          .execute<ApiKeyUsage[]>();
        return rows.map(({ keyId, dayOpenedAt, daySpent }) => ({
          subjectId: keyId === adminRow ? adminId : keyId,
          openedAt: Number(dayOpenedAt),
          spent: daySpent,
        }));
      }),
    save: async (usages) => {
      const values = [
        usages.map(({ subjectId }) => (subjectId === adminId ? adminRow : subjectId)),
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
