import type { MetadataStorage } from '@mikro-orm/core';

import type { Id } from '../../domain/id.ts';
import { DeprecatedUse } from '../../domain/requests/deprecated-use.entity.ts';
import { KeyRequest } from '../../domain/requests/key-request.entity.ts';
import { KeyUse } from '../../domain/requests/key-use.entity.ts';
import {
  keyRequestList,
  type DeprecatedUsePosition,
  type DeprecatedUses,
  type HourOfUse,
  type RequestBatch,
  type RequestStore,
  type Use,
  type UseRange,
} from '../../domain/requests/request.store.ts';
import { type Session, statementOf, UnreadableRow } from '../../platform/postgres/index.ts';
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
  const reads: RequestReads = new TableReads({
    ...source,
    // The index of a key's requests has them in the order of their ids only.
    conditions: (filter, isPerParent) => unserved(source.conditions(filter, isPerParent)),
  });
  const made = { reads, save: statementOf(saveText(requests, use), 0, () => undefined, 'write'), withEntities };
  return (session) => new SessionRequests(session, made);
}

type RequestReads = TableReads<KeyRequest, typeof keyRequestList>;

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

const trim = statementOf(
  `delete from api_key_requests as request using unnest($1::bigint[]) as written (key_id), lateral (
     select id from api_key_requests where key_id = written.key_id order by id desc offset $2::int limit 1
   ) as newest
   where request.key_id = written.key_id and request.id <= newest.id`,
  0,
  () => undefined,
  'write',
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

interface MadeOnce {
  readonly reads: RequestReads;
  readonly save: ReturnType<typeof statementOf<undefined>>;
  readonly withEntities: WithEntities;
}

class SessionRequests implements RequestStore {
  readonly #session: Session;
  readonly #made: MadeOnce;

  constructor(session: Session, made: MadeOnce) {
    this.#session = session;
    this.#made = made;
  }

  get entries(): ReadOnlyStore<KeyRequest, typeof keyRequestList> {
    return new ReadOnlyStore(this.#session, this.#made.reads);
  }

  async save(writer: string, { number, hours, uses, entries }: RequestBatch): Promise<void> {
    const ofHours = (['keyId', 'startsAt', ...figures] as const).map((name) =>
      hours.map((hour: HourOfUse) => hour[name]),
    );
    const ofEntries = written.map((name) => entries.map((entry) => textOf(entry[name])));
    const ofUses = [
      uses.map(({ keyId }) => keyId),
      uses.map(({ coordinate }) => coordinate),
      uses.map(({ count }) => count),
      uses.map(({ lastUsedAt }) => lastUsedAt.toISOString()),
      uses.map(({ sunset }) => sunset.toISOString()),
    ];
    await this.#session.run(this.#made.save, [writer, number, ...ofHours, ...ofEntries, ...ofUses]);
  }

  async trim(keyIds: readonly Id[], kept: number): Promise<void> {
    await this.#session.run(trim, [keyIds, kept]);
  }

  async deleteBefore(ends: { readonly entries: Date; readonly hours: Date; readonly days: Date }): Promise<void> {
    await this.#made.withEntities(this.#session, async (em) => {
      await em.nativeDelete(KeyRequest, { at: { $lt: ends.entries } });
      await em.nativeDelete(KeyUse, { isDay: false, startsAt: { $lt: ends.hours } });
      await em.nativeDelete(KeyUse, { isDay: true, startsAt: { $lt: ends.days } });
      await em.nativeDelete(DeprecatedUse, { day: { $lt: ends.days } });
      await em.nativeDelete(SavedBatch, { at: { $lt: ends.entries } });
    });
  }

  async forget(keyId: Id, replacement: string): Promise<void> {
    const [requestId, operation, address] = [replacement, replacement, replacement];
    const client = { clientName: replacement, clientVersion: replacement, userAgent: replacement };
    await this.#made.withEntities(this.#session, (em) =>
      em.nativeUpdate(KeyRequest, { keyId }, { requestId, operation, address, ...client }),
    );
  }

  deprecatedUsesOf(keyIds: readonly Id[], since: Date): Promise<DeprecatedUses[]> {
    return this.#session.run(usesOfKeys, [keyIds, since.toISOString()]);
  }

  usersOf(coordinate: string, since: Date, limit: number, after?: DeprecatedUsePosition): Promise<DeprecatedUses[]> {
    const { lastUsedAt = null, keyId = null } = after ?? {};
    return this.#session.run(usersOfCoordinate, [coordinate, since.toISOString(), lastUsedAt, keyId, limit]);
  }

  allDeprecatedUses(since: Date): Promise<DeprecatedUses[]> {
    return this.#session.run(allUses, [since.toISOString()]);
  }

  useOf(keyIds: readonly Id[], { isDay, since, until }: UseRange): Promise<KeyUse[]> {
    return this.#made.withEntities(this.#session, (em) =>
      em.find(KeyUse, { keyId: { $in: [...keyIds] }, isDay, startsAt: { $gte: since, $lt: until } }),
    );
  }
}

function textOf(value: RowData<KeyRequest>[(typeof written)[number]]) {
  return value instanceof Date ? value.toISOString() : (value ?? null);
}
