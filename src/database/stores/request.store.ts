import type { MetadataStorage } from '@mikro-orm/core';

import type { Id } from '../../domain/id.ts';
import { DeprecatedUse } from '../../domain/requests/deprecated-use.entity.ts';
import { KeyRequest } from '../../domain/requests/key-request.entity.ts';
import { KeyUse } from '../../domain/requests/key-use.entity.ts';
import {
  keyRequestList,
  type DeprecatedUses,
  type HourOfUse,
  type RequestBatch,
  type RequestStore,
  type Use,
} from '../../domain/requests/request.store.ts';
import { commandOf, type Session, statementOf, UnreadableRow } from '../../platform/postgres/index.ts';
import type { RowData } from '../../domain/store.ts';
import type { WithEntities } from '../entity-manager.ts';
import { unserved } from '../sql/conditions.ts';
import { EntityTable } from '../sql/entity-table.ts';
import { listSource } from '../sql/list-source.ts';
import { TableReads } from '../sql/table-reads.ts';
import { ReadOnlyStore } from '../sql/table-store.ts';
import { SavedBatch } from './saved-batch.entity.ts';

const figures = [
  'cost',
  'requests',
  'refusedByQuota',
  'refusedByBan',
  'clientErrors',
  'serverErrors',
  'writes',
  'deprecatedUses',
  'omitted',
] as const satisfies readonly (keyof Use)[];

const written = [
  'keyId',
  'at',
  'requestId',
  'protocol',
  'operation',
  'status',
  'code',
  'refusedBy',
  'quotaLimit',
  'retryAfter',
  'cost',
  'durationMillis',
  'hasIdempotencyKey',
  'address',
  'clientName',
  'clientVersion',
  'userAgent',
] as const satisfies readonly (keyof RowData<KeyRequest>)[];

export function createRequestStore(
  metadata: MetadataStorage,
  withEntities: WithEntities,
): (session: Session) => RequestStore {
  const [requests, use] = [new EntityTable(metadata.get(KeyRequest)), new EntityTable(metadata.get(KeyUse))];
  const source = listSource(requests, keyRequestList, {});
  const reads = new TableReads<KeyRequest, typeof keyRequestList>({
    ...source,
    // The index of a key's requests has them in the order of their ids only.
    conditions: (filter, isPerParent) => unserved(source.conditions(filter, isPerParent)),
  });
  const save = commandOf(saveText(requests, use));
  return (session) => ({
    get entries() {
      return new ReadOnlyStore(session, reads);
    },
    save: async (writer, batch) => {
      await session.run(save, [writer, batch.number, ...savedLists(batch)]);
    },
    trim: async (keyIds, kept) => {
      await session.run(trim, [keyIds, kept]);
    },
    deleteBefore: (ends) =>
      withEntities(session, async (em) => {
        await em.nativeDelete(KeyRequest, { at: { $lt: ends.entries } });
        await em.nativeDelete(KeyUse, { isDay: false, startsAt: { $lt: ends.hours } });
        await em.nativeDelete(KeyUse, { isDay: true, startsAt: { $lt: ends.days } });
        await em.nativeDelete(DeprecatedUse, { day: { $lt: ends.days } });
        await em.nativeDelete(SavedBatch, { at: { $lt: ends.entries } });
      }),
    forget: async (keyId, replacement) => {
      const [requestId, operation, address] = [replacement, replacement, replacement];
      const client = { clientName: replacement, clientVersion: replacement, userAgent: replacement };
      await withEntities(session, (em) =>
        em.nativeUpdate(KeyRequest, { keyId }, { requestId, operation, address, ...client }),
      );
    },
    deprecatedUsesOf: (keyIds, since) => session.run(usesOfKeys, [keyIds, since.toISOString()]),
    usersOf: (coordinate, since, limit, after) => {
      const { lastUsedAt = null, keyId = null } = after ?? {};
      return session.run(usersOfCoordinate, [coordinate, since.toISOString(), lastUsedAt, keyId, limit]);
    },
    allDeprecatedUses: (since) => session.run(allUses, [since.toISOString()]),
    useOf: (keyIds, { isDay, since, until }) =>
      withEntities(session, (em) =>
        em.find(KeyUse, { keyId: { $in: [...keyIds] }, isDay, startsAt: { $gte: since, $lt: until } }),
      ),
  });
}

/** Saves a batch once, in one order for all processes, which so never wait for each other in a circle. */
function saveText(requests: EntityTable, use: EntityTable): string {
  const names = figures.map((name) => use.columnName(name));
  const entryNames = written.map((name) => requests.columnName(name));
  const entryTypes = written.map((name) => requests.columnType(name).replace(/\(.*/, ''));
  const hourTypes = ['bigint', 'bigint', ...figures.map(() => 'bigint')];
  const useTypes = ['bigint', 'text', 'int', 'timestamptz', 'timestamptz'];
  return `
  with batch as (
    insert into api_request_batches as saved (writer, number) values ($1::uuid, $2::bigint)
    on conflict (writer) do update set number = excluded.number, at = now() where saved.number < excluded.number
    returning writer
  ), hours as (
    select * from unnest(${arrays(3, hourTypes)}) as hours (key_id, starts_at, ${names.join(', ')})
  ), used as (
    insert into api_key_deprecated_use as saved (key_id, coordinate, day, uses, last_used_at, sunset)
    select key_id, coordinate, date_trunc('day', last_used_at, 'UTC'), uses, last_used_at, sunset
    from unnest(${arrays(3 + hourTypes.length + written.length, useTypes)})
      as uses (key_id, coordinate, uses, last_used_at, sunset)
    where exists (select from batch) order by 1, 2, 3
    on conflict (key_id, coordinate, day) do update set uses = ${grown('uses', 'int')}, sunset = excluded.sunset,
      last_used_at = greatest(saved.last_used_at, excluded.last_used_at)
  ), added as (
    insert into ${use.name} as saved (key_id, is_day, starts_at, ${names.join(', ')})
    select key_id, is_day, start, ${names.map((name) => `sum(${name})`).join(', ')}
    from (
      select hours.*, is_day, date_bin(
        case when is_day then interval '1 day' else interval '1 hour' end, to_timestamp(starts_at / 1000.0), 'epoch'
      ) as start
      from hours cross join (values (false), (true)) as kinds (is_day)
    ) as periods
    where exists (select from batch) group by 1, 2, 3 order by 1, 2, 3
    on conflict (key_id, is_day, starts_at) do update
      set ${figures.map((name) => `${use.columnName(name)} = ${grown(use.columnName(name), use.columnType(name))}`).join(', ')}
  )
  insert into ${requests.name} (${entryNames.join(', ')})
  select ${entryNames.join(', ')}
  from unnest(${arrays(3 + hourTypes.length, entryTypes)}) as entries (${entryNames.join(', ')})
  where exists (select from batch)`;
}

const greatest: Readonly<Record<string, string>> = { int: `${2 ** 31 - 1}`, bigint: `${2n ** 63n - 1n}` };

/** One that can't grow any more stays as it is: it must not keep those of others from being saved. */
function grown(column: string, type: string): string {
  return `least(saved.${column}::numeric + excluded.${column}, ${greatest[type]})`;
}

function arrays(first: number, types: readonly string[]): string {
  return types.map((type, index) => `$${first + index}::${type}[]`).join(', ');
}

/** The lists that `saveText` unnests, in its order. */
function savedLists({ hours, uses, entries }: RequestBatch) {
  return [
    ...(['keyId', 'startsAt', ...figures] as const).map((name) => hours.map((hour: HourOfUse) => hour[name])),
    ...written.map((name) => entries.map((entry) => textOf(entry[name]))),
    uses.map(({ keyId }) => keyId),
    uses.map(({ coordinate }) => coordinate),
    uses.map(({ count }) => count),
    uses.map(({ lastUsedAt }) => lastUsedAt.toISOString()),
    uses.map(({ sunset }) => sunset.toISOString()),
  ];
}

function textOf(value: RowData<KeyRequest>[(typeof written)[number]]) {
  return value instanceof Date ? value.toISOString() : (value ?? null);
}

const trim = commandOf(
  `delete from api_key_requests as request using unnest($1::bigint[]) as written (key_id), lateral (
     select id from api_key_requests where key_id = written.key_id order by id desc offset $2::int limit 1
   ) as newest
   where request.key_id = written.key_id and request.id <= newest.id`,
);

const usesText = `select key_id, coordinate, least(sum(uses), ${greatest['int']}), max(last_used_at), max(sunset) from api_key_deprecated_use`;

function readUses([keyId, coordinate, count, lastUsedAt, sunset]: readonly (string | null)[]): DeprecatedUses {
  const instant = (property: keyof DeprecatedUses, text: string | null | undefined): Date => {
    const date = new Date(String(text));
    if (!Number.isNaN(date.getTime())) return date;
    throw new UnreadableRow('api_key_deprecated_use', String(keyId), property, text);
  };
  return {
    keyId: keyId as Id,
    coordinate: String(coordinate),
    count: Number(count),
    lastUsedAt: instant('lastUsedAt', lastUsedAt),
    sunset: instant('sunset', sunset),
  };
}

const usesOfKeys = statementOf(
  `${usesText} where key_id = any($1::bigint[]) and day >= $2::timestamptz group by 1, 2 order by 1, 2`,
  5,
  readUses,
  'short',
);
const usersOfCoordinate = statementOf(
  `${usesText} where coordinate = $1::text and day >= $2::timestamptz group by 1, 2
   having $3::timestamptz is null or (max(last_used_at), key_id) < ($3::timestamptz, $4::bigint)
   order by 4 desc, 1 desc limit $5::int`,
  5,
  readUses,
  'slow',
);
const allUses = statementOf(
  `${usesText} where day >= $1::timestamptz group by 1, 2 order by 2, 4 desc`,
  5,
  readUses,
  'slow',
);
