import type { EventPosition, EventType } from '../../domain/events/event.ts';
import type { Id } from '../../domain/id.ts';
import type { Attempt, Progress } from '../../platform/delivery/index.ts';
import { type Session, statementOf } from '../../platform/postgres/index.ts';

/** An endpoint, as a process has leased it. Instants are milliseconds since 1970. */
interface LeasedWebhook {
  readonly id: Id;
  readonly fence: string;
  readonly url: string;
  readonly eventTypes: readonly EventType[] | null;
  readonly isThin: boolean;
  readonly maxInFlight: number;
  readonly secretVersion: number;
  readonly previousSecretVersion: number | null;
  readonly previousSecretExpiresAt: number | null;
  readonly position: EventPosition;
  readonly failures: number;
  readonly failingSince: number | null;
  readonly nextAttemptAt: number | null;
  readonly isHealthy: boolean;
  /** Of events after its position that were refused. */
  readonly refusals: Readonly<Record<string, { readonly count: number; readonly retryAt: number | null }>>;
}

/** The leases of endpoints: by the database's clock, 30 s each. */
export interface WebhookLeases {
  lease(holderId: string): Promise<readonly LeasedWebhook[]>;
  save(progress: readonly Progress[]): Promise<readonly string[]>;
  release(holderId: string): Promise<void>;
  /** How many endpoints there are, by state. */
  states(): Promise<Readonly<Record<string, number>>>;
}

const millis = (instant: string): string => `floor(extract(epoch from ${instant}) * 1000)::float8`;

/**
 * A process lives that has been seen within 10 s, and each has its part: the surplus of one that has more isn't renewed,
 * and is free when it is returned, or when its lease has ended. So a process that joins has its part within 35 s. A
 * process that leases what it had before, as after an outage of the database, goes on with the same fence.
 */
const leaseText = `
  with seen as (
    insert into webhook_processes (id, seen_at) values ($1::uuid, now())
    on conflict (id) do update set seen_at = excluded.seen_at
  ), gone as (
    delete from webhook_processes where seen_at < now() - interval '1 minute' and id <> $1::uuid
  ), wanted as (
    select id, holder, leased_until from webhook_endpoints where not is_paused and disabled_reason is null
  ), part as (
    select ceil((select count(*) from wanted)::numeric / (1 + count(*)))::int as size
    from webhook_processes where seen_at > now() - interval '10 seconds' and id <> $1::uuid
  ), kept as (
    select id from wanted where holder = $1::uuid and leased_until > now() order by id limit (select size from part)
  ), free as (
    select id from webhook_endpoints
    where not is_paused and disabled_reason is null and coalesce(leased_until, '-infinity') <= now()
    order by coalesce(holder = $1::uuid, false) desc, next_attempt_at nulls first, id
    limit (select greatest(0, size - (select count(*) from kept)) from part)
    for update skip locked
  ), leased as (
    update webhook_endpoints as endpoint
    set holder = $1::uuid, leased_until = now() + interval '30 seconds',
      fence = endpoint.fence + (endpoint.holder is distinct from $1::uuid)::int
    where endpoint.id in (select id from free)
      or endpoint.id in (select id from kept) and endpoint.leased_until < now() + interval '20 seconds'
    returning endpoint.*
  )
  select row_to_json(found)::text from (
    select endpoint.id::text, endpoint.fence::text, endpoint.url, endpoint.event_types as "eventTypes",
      endpoint.is_thin as "isThin", endpoint.max_in_flight as "maxInFlight",
      endpoint.secret_version as "secretVersion", endpoint.previous_secret_version as "previousSecretVersion",
      ${millis('endpoint.previous_secret_expires_at')} as "previousSecretExpiresAt", endpoint.position,
      endpoint.failures, ${millis('endpoint.failing_since')} as "failingSince",
      ${millis('endpoint.next_attempt_at')} as "nextAttemptAt", endpoint.is_healthy as "isHealthy",
      coalesce((
        select json_object_agg(event_id, json_build_object('count', count, 'retryAt', ${millis('retry_at')})) from (
          select distinct on (event_id) event_id, refusals as count, retry_at from webhook_attempts
          where endpoint_id = endpoint.id and refusals > 0
            and at > coalesce(endpoint.failing_since, now()) - interval '2 hours'
          order by event_id, id desc
        ) as refused
      ), '{}') as refusals
    from (
      select * from leased
      union all
      select endpoint.* from webhook_endpoints as endpoint
      where endpoint.id in (select id from kept) and endpoint.id not in (select id from leased)
    ) as endpoint
  ) as found`;

const lease = statementOf<LeasedWebhook>(
  leaseText,
  1,
  ([json]) => JSON.parse(json as string) as LeasedWebhook,
  'write',
);

const saveText = `
  with given as (
    select * from jsonb_to_recordset($1::jsonb) as given (
      id bigint, fence bigint, position text, failures int, failing_since float8, next_attempt_at float8,
      is_healthy boolean, disabled text, is_returned boolean, attempts jsonb
    )
  ), saved as (
    update webhook_endpoints as endpoint
    set position = given.position, failures = given.failures, failing_since = to_timestamp(given.failing_since),
      next_attempt_at = to_timestamp(given.next_attempt_at), is_healthy = given.is_healthy,
      disabled_reason = given.disabled,
      leased_until = case when is_returned then now() else leased_until end
    -- Who changes it, for its history.
    from given cross join (select set_config('petstore.changed_by', 'service', true) as actor offset 0) as change
    where endpoint.id = given.id and endpoint.fence = given.fence and actor is not null
    returning endpoint.id
  ), recorded as (
    insert into webhook_attempts (endpoint_id, event_id, at, status, failure, duration_millis, refusals, retry_at)
    select given.id, event_id, to_timestamp(at), status, failure, duration_millis, refusals, to_timestamp(retry_at)
    from given join saved using (id), jsonb_to_recordset(given.attempts) as attempt (
      event_id text, at float8, status int, failure text, duration_millis int, refusals int, retry_at float8
    )
  )
  select id::text from saved`;

const save = statementOf(saveText, 1, ([id]) => id as string, 'write');

const release = statementOf(
  `with ended as (delete from webhook_processes where id = $1::uuid)
   update webhook_endpoints set leased_until = now() where holder = $1::uuid and leased_until > now()`,
  0,
  () => undefined,
  'write',
);

const states = statementOf<readonly [string, number]>(
  `select case when disabled_reason is not null then 'disabled' when is_paused then 'paused'
     when next_attempt_at is not null then 'failing' else 'active' end as state, count(*)
   from webhook_endpoints group by state`,
  2,
  ([state, count]) => [state as string, Number(count)],
);

export function createWebhookLeases(session: Session): WebhookLeases {
  return {
    lease: (holderId) => session.run(lease, [holderId]),
    save: (progress) => session.run(save, [JSON.stringify(progress.map(savedOf))]),
    release: async (holderId) => {
      await session.run(release, [holderId]);
    },
    states: async () => ({
      active: 0,
      paused: 0,
      failing: 0,
      disabled: 0,
      ...Object.fromEntries(await session.run(states, [])),
    }),
  };
}

/** In seconds, as `to_timestamp` has it. */
const seconds = (at: number | undefined): number | null => (at === undefined ? null : at / 1_000);

function savedOf({ id, fence, position, failing, isHealthy, disabled, attempts, isReturned }: Progress): object {
  return {
    id,
    fence,
    position,
    failures: failing?.count ?? 0,
    failing_since: seconds(failing?.since),
    next_attempt_at: seconds(failing?.nextAttemptAt),
    is_healthy: isHealthy,
    disabled: disabled ?? null,
    is_returned: isReturned,
    attempts: attempts.map(savedAttempt),
  };
}

function savedAttempt({ eventId, at, status, failure, durationMillis, refusals }: Attempt): object {
  return {
    event_id: eventId,
    at: seconds(at),
    status: status ?? null,
    failure: failure ?? null,
    duration_millis: durationMillis,
    refusals: refusals?.count ?? null,
    retry_at: seconds(refusals?.retryAt),
  };
}
