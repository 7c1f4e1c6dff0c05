import type { Id } from '../../domain/id.ts';
import type { WebhookEndpoint } from '../../domain/webhooks/webhook-endpoint.entity.ts';
import type { Attempt, Progress, SaveOutcome } from '../../platform/delivery/index.ts';
import { commandOf, type Session, statementOf } from '../../platform/postgres/index.ts';

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
 * No row is returned, and a tenth of 1,000 is renewed: a round costs the same however often events were refused.
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
    returning endpoint.id, is_new
  )
  select id::text, false from kept where leased_until >= now() + interval '15 seconds'
  union
  select id::text, is_new from leased`;

const lease = statementOf(leaseText, 2, ([id, isNew]) => ({ id: id as Id, isNew: isNew === 't' }), 'write');

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
 * Attempts are saved whoever has the lease, the rest with its fence; what was disabled meanwhile stays so. An endpoint
 * that somebody has locked is saved the next time.
 */
const saveText = `
  with given as (
    select * from jsonb_to_recordset($1::jsonb) as given (
      id bigint, fence bigint, position text, failures int, failing_since timestamptz, failed_at timestamptz,
      next_attempt_at timestamptz, is_healthy boolean, disabled text, refusals jsonb, is_returned boolean, attempts jsonb
    )
  ), locked as (
    select id, fence from webhook_endpoints where id in (select id from given) for no key update skip locked
  ), saved as (
    update webhook_endpoints as endpoint
    set position = given.position, failures = given.failures, failing_since = given.failing_since,
      failed_at = given.failed_at, next_attempt_at = given.next_attempt_at,
      is_healthy = given.is_healthy, disabled_reason = coalesce(endpoint.disabled_reason, given.disabled),
      refusals = given.refusals,
      leased_until = case when is_returned then now() else leased_until end
    -- Who changes it, for its history.
    from given join locked using (id, fence)
      cross join (select set_config('petstore.changed_by', 'service', true) as actor offset 0) as change
    where endpoint.id = given.id and actor is not null
    returning endpoint.id
  ), recorded as (
    insert into webhook_attempts (endpoint_id, event_id, at, status, failure, cause, duration_millis, refusals)
    select given.id, event_id, at, status, failure, cause, duration_millis, attempt.refusals
    from given join locked using (id), jsonb_to_recordset(given.attempts) as attempt (
      event_id text, at timestamptz, status int, failure text, cause text, duration_millis int, refusals int
    )
    on conflict (endpoint_id, event_id, at) do nothing
  )
  select given.id::text, case
    when saved.id is not null then 'saved' when locked.id is null and endpoint.id is not null then 'locked' else 'lost' end
  from given left join saved using (id) left join locked using (id) left join webhook_endpoints as endpoint using (id)`;

const save = statementOf(saveText, 2, ([id, outcome]) => [id as string, outcome as SaveOutcome] as const, 'write');

const others = commandOf(`select from webhook_processes where ${isSeen('10 seconds')} and id <> $1::uuid limit 1`, {
  kind: 'short',
});

const release = commandOf(
  `with ended as (delete from webhook_processes where id = $1::uuid)
   update webhook_endpoints set leased_until = now() where holder = $1::uuid and leased_until > now()`,
);

const states = statementOf(
  'select state, signing_key, count(*) from webhook_endpoints group by 1, 2',
  3,
  ([state, signingKey, count]) => ({
    state: state as WebhookEndpoint['state'],
    signingKey: String(signingKey),
    count: Number(count),
  }),
);

/** The leases of endpoints: by the database's clock. */
export function createWebhookLeases(session: Session) {
  return {
    lease: (holderId: string, signingKeys: readonly string[]) => session.run(lease, [holderId, signingKeys]),
    endOwned: () => session.run(endOwned, []),
    hasOthers: async (holderId: string) => (await session.run(others, [holderId])).length > 0,
    save: async (progress: readonly Progress[]) =>
      new Map(await session.run(save, [JSON.stringify(progress.map(savedOf))])),
    release: async (holderId: string) => {
      await session.run(release, [holderId]);
    },
    states: () => session.run(states, []),
  };
}

function savedOf(progress: Progress): object {
  return {
    id: progress.id,
    fence: progress.fence,
    position: progress.position,
    failures: progress.failures,
    failing_since: progress.failingSince,
    failed_at: progress.failedAt,
    next_attempt_at: progress.nextAttemptAt,
    is_healthy: progress.isHealthy,
    disabled: progress.disabledReason,
    refusals: progress.refusals,
    is_returned: progress.isReturned,
    attempts: progress.attempts.map(savedAttempt),
  };
}

function savedAttempt({ eventId, durationMillis, ...attempt }: Attempt): object {
  return { ...attempt, event_id: eventId, duration_millis: durationMillis };
}
