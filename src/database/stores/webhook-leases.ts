import type { EventPosition, EventType } from '../../domain/events/event.ts';
import type { Id } from '../../domain/id.ts';
import type { Attempt, Endpoint, Progress, SaveOutcome } from '../../platform/delivery/index.ts';
import { type Session, statementOf } from '../../platform/postgres/index.ts';

/** An endpoint, as a process has leased it. Instants are milliseconds since 1970. */
interface LeasedWebhook extends Pick<
  Endpoint,
  'id' | 'fence' | 'url' | 'maxInFlight' | 'isHealthy' | 'refusals' | 'isTrusted'
> {
  readonly eventTypes: readonly EventType[] | null;
  readonly isThin: boolean;
  readonly secretVersion: number;
  readonly previousSecretVersion: number | null;
  readonly previousSecretExpiresAt: number | null;
  readonly position: EventPosition;
  readonly replayedTo: EventPosition | null;
  readonly failures: number;
  readonly failingSince: number | null;
  readonly failedAt: number | null;
  readonly nextAttemptAt: number | null;
}

/** The row is left out where the process has leased it before. */
interface Leased {
  readonly id: Id;
  readonly row: LeasedWebhook | undefined;
}

/** The leases of endpoints: by the database's clock, 30 s each. */
export interface WebhookLeases {
  /** Of endpoints whose signing key is one of these. The rows of what is missing are read again. */
  lease(holderId: string, signingKeys: readonly string[], missing: readonly string[]): Promise<readonly Leased[]>;
  /** Disables those whose key has ended, and returns them. */
  endOwned(): Promise<readonly { readonly id: Id; readonly url: string }[]>;
  save(progress: readonly Progress[]): Promise<ReadonlyMap<string, SaveOutcome>>;
  release(holderId: string): Promise<void>;
  /** How many endpoints there are, by state. */
  states(signingKeys: readonly string[]): Promise<Readonly<Record<string, number>>>;
}

const millis = (instant: string): string => `floor(extract(epoch from ${instant}) * 1000)::float8`;

/** A lease lasts as long. One that ends later was given before the clock was set back, and is free. */
const leaseSeconds = 30;
const isLeased = (row: string): string =>
  `(${row}.leased_until > now() and ${row}.leased_until <= now() + interval '${leaseSeconds + 1} seconds')`;

/** By its own clock, which may have been set forth or back since the process was seen. */
const isSeen = (age: string): string => `seen_at between now() - interval '${age}' and now() + interval '${age}'`;

/**
 * A process lives that has been seen within 10 s, and each has its part: the surplus of one that has more isn't renewed,
 * and is free when it is returned, or when its lease has ended. So a process that joins has its part within 35 s. A
 * process that leases what it had before, as after an outage of the database, goes on with the same fence. An endpoint
 * that somebody has locked is left out of this round.
 *
 * Of what the process has had already only the id is read, and a tenth of 1,000 is renewed: a round costs the same
 * however often events were refused.
 */
const leaseText = `
  with seen as (
    insert into webhook_processes (id, seen_at) values ($1::uuid, now())
    on conflict (id) do update set seen_at = excluded.seen_at
  ), gone as (
    delete from webhook_processes where not ${isSeen('1 minute')} and id <> $1::uuid
  ), wanted as materialized (
    select id, holder, leased_until, next_attempt_at, ${isLeased('endpoint')} is true as is_leased
    from webhook_endpoints as endpoint where state in ('active', 'failing') and signing_key = any($2::text[])
  ), part as (
    select ceil((select count(*) from wanted)::numeric / (1 + count(*)))::int as size
    from webhook_processes where ${isSeen('10 seconds')} and id <> $1::uuid
  ), kept as materialized (
    select id, leased_until from wanted where holder = $1::uuid and is_leased order by id limit (select size from part)
  ), chosen as (
    (select id, false as is_new from kept where leased_until < now() + interval '25 seconds' order by leased_until limit 100)
    union all (
      select id, true from wanted where not is_leased
      order by coalesce(holder = $1::uuid, false) desc, next_attempt_at nulls first, id
      limit (select greatest(0, size - (select count(*) from kept)) from part)
    )
  ), locked as (
    select endpoint.id, is_new from chosen join webhook_endpoints as endpoint using (id)
    where holder = $1::uuid or ${isLeased('endpoint')} is not true
    for no key update of endpoint skip locked
  ), leased as (
    update webhook_endpoints as endpoint
    set holder = $1::uuid, leased_until = now() + interval '${leaseSeconds} seconds',
      fence = endpoint.fence + (endpoint.holder is distinct from $1::uuid)::int
    from locked where endpoint.id = locked.id
    returning endpoint.*, is_new
  )
  select id::text, null from kept where leased_until >= now() + interval '15 seconds' and id <> all($3::bigint[])
  union all
  select id::text, null from leased where not is_new
  union all
  select endpoint.id::text, row_to_json(shown)::text from (
    select * from leased where is_new
    union all
    select *, false from webhook_endpoints where id = any($3::bigint[]) and id in (select id from kept)
  ) as endpoint cross join lateral (
    select endpoint.id::text, endpoint.fence::text, endpoint.owner_id is null as "isTrusted", endpoint.url,
      endpoint.event_types as "eventTypes", endpoint.is_thin as "isThin", endpoint.max_in_flight as "maxInFlight",
      endpoint.secret_version as "secretVersion", endpoint.previous_secret_version as "previousSecretVersion",
      ${millis('endpoint.previous_secret_expires_at')} as "previousSecretExpiresAt", endpoint.position,
      endpoint.replayed_to as "replayedTo", endpoint.failures, ${millis('endpoint.failing_since')} as "failingSince",
      ${millis('endpoint.failed_at')} as "failedAt", ${millis('endpoint.next_attempt_at')} as "nextAttemptAt",
      endpoint.is_healthy as "isHealthy", endpoint.refusals
  ) as shown`;

const lease = statementOf<Leased>(
  leaseText,
  2,
  ([id, json]) => ({ id: id as Id, row: typeof json === 'string' ? (JSON.parse(json) as LeasedWebhook) : undefined }),
  'write',
);

/** Endpoints of keys that were revoked or have expired. */
const endOwnedText = `
  with ended as (
    select endpoint.id from webhook_endpoints as endpoint join api_keys as owner on owner.id = owner_id
    where disabled_reason is null and (owner.revoked_at is not null or owner.expires_at <= now())
    for no key update of endpoint skip locked
  )
  update webhook_endpoints as endpoint
  set disabled_reason = 'KEY_ENDED', failed_at = null, next_attempt_at = null
  from ended cross join (select set_config('petstore.changed_by', 'service', true) as actor offset 0) as change
  where endpoint.id = ended.id and actor is not null
  returning endpoint.id::text, endpoint.url`;

const endOwned = statementOf(endOwnedText, 2, ([id, url]) => ({ id: id as Id, url: url as string }), 'write');

/**
 * Attempts are saved whoever has the lease, the rest with its fence. An endpoint that somebody has locked is saved the
 * next time.
 */
const saveText = `
  with given as (
    select * from jsonb_to_recordset($1::jsonb) as given (
      id bigint, fence bigint, position text, failures int, failing_since float8, failed_at float8,
      next_attempt_at float8, is_healthy boolean, disabled text, refusals jsonb, is_returned boolean, attempts jsonb
    )
  ), locked as (
    select id, fence from webhook_endpoints where id in (select id from given) for no key update skip locked
  ), saved as (
    update webhook_endpoints as endpoint
    set position = given.position, failures = given.failures, failing_since = to_timestamp(given.failing_since),
      failed_at = to_timestamp(given.failed_at), next_attempt_at = to_timestamp(given.next_attempt_at),
      is_healthy = given.is_healthy, disabled_reason = given.disabled, refusals = given.refusals,
      leased_until = case when is_returned then now() else leased_until end
    -- Who changes it, for its history.
    from given join locked using (id, fence)
      cross join (select set_config('petstore.changed_by', 'service', true) as actor offset 0) as change
    where endpoint.id = given.id and actor is not null
    returning endpoint.id
  ), recorded as (
    insert into webhook_attempts (endpoint_id, event_id, at, status, failure, cause, duration_millis, refusals)
    select given.id, event_id, to_timestamp(at), status, failure, cause, duration_millis, attempt.refusals
    from given join locked using (id), jsonb_to_recordset(given.attempts) as attempt (
      event_id text, at float8, status int, failure text, cause text, duration_millis int, refusals int
    )
    on conflict (endpoint_id, event_id, at) do nothing
  )
  select given.id::text, case
    when saved.id is not null then 'saved' when locked.id is null and endpoint.id is not null then 'locked' else 'lost' end
  from given left join saved using (id) left join locked using (id) left join webhook_endpoints as endpoint using (id)`;

const save = statementOf(saveText, 2, ([id, outcome]) => [id as string, outcome as SaveOutcome] as const, 'write');

const release = statementOf(
  `with ended as (delete from webhook_processes where id = $1::uuid)
   update webhook_endpoints set leased_until = now() where holder = $1::uuid and leased_until > now()`,
  0,
  () => undefined,
  'write',
);

const states = statementOf<readonly [string, number]>(
  `select case when state in ('active', 'failing') and signing_key <> all($1::text[]) then 'held' else state end, count(*)
   from webhook_endpoints group by 1`,
  2,
  ([state, count]) => [state as string, Number(count)],
);

export function createWebhookLeases(session: Session): WebhookLeases {
  return {
    lease: (holderId, signingKeys, missing) => session.run(lease, [holderId, signingKeys, missing]),
    endOwned: () => session.run(endOwned, []),
    save: async (progress) => new Map(await session.run(save, [JSON.stringify(progress.map(savedOf))])),
    release: async (holderId) => {
      await session.run(release, [holderId]);
    },
    states: async (signingKeys) => ({
      active: 0,
      paused: 0,
      held: 0,
      failing: 0,
      disabled: 0,
      ...Object.fromEntries(await session.run(states, [signingKeys])),
    }),
  };
}

/** In seconds, as `to_timestamp` has it. */
const seconds = (at: number | undefined): number | null => (at === undefined ? null : at / 1_000);

function savedOf(progress: Progress): object {
  const { id, fence, position, failing, isHealthy, disabled, refusals, attempts, isReturned } = progress;
  return {
    id,
    fence,
    position,
    failures: failing?.count ?? 0,
    failing_since: seconds(failing?.since),
    failed_at: seconds(failing?.wait?.from),
    next_attempt_at: seconds(failing?.wait?.until),
    is_healthy: isHealthy,
    disabled: disabled ?? null,
    refusals,
    is_returned: isReturned,
    attempts: attempts.map(savedAttempt),
  };
}

function savedAttempt({ eventId, at, status, failure, cause, durationMillis, refusals }: Attempt): object {
  return {
    event_id: eventId,
    at: seconds(at),
    status: status ?? null,
    failure: failure ?? null,
    cause: cause ?? null,
    duration_millis: durationMillis,
    refusals: refusals ?? null,
  };
}
