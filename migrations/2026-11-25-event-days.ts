import { Migration } from '@mikro-orm/migrations';

import { eventMaintenance } from './2026-11-23-events/move.ts';
import { inThisSchema } from './2026-11-23-events/schema.ts';
import { eventMover } from './2026-11-25-event-halves.ts';

/**
 * The days of the log, and how old they are, are told by a time of its own, which a jump of the clock doesn't change:
 * it goes on by as much as the clock, but by no more than has passed for the process that keeps it. Only what passes
 * while none does is what the clock says.
 *
 * The previous version runs on: it calls the same functions, and says nothing of what has passed for it.
 */
export class EventDaysMigration extends Migration {
  override up(): void {
    this.addSql(`alter table event_state add column log_time timestamptz not null default clock_timestamp(),
      add column timed_at timestamptz not null default clock_timestamp()`);
    this.addSql('drop function petstore_maintain_events(interval)');
    for (const text of [moverByLogTime, maintenanceByLogTime]) this.addSql(inThisSchema(text));
    this.addSql('revoke execute on function petstore_maintain_events(interval, interval) from public');
  }

  override down(): void {
    this.addSql('drop function petstore_maintain_events(interval, interval)');
    for (const text of [eventMover, eventMaintenance]) this.addSql(inThisSchema(text));
    this.addSql('revoke execute on function petstore_maintain_events(interval) from public');
    this.addSql('alter table event_state drop column log_time, drop column timed_at');
  }
}

const dayByClock = 'floor(extract(epoch from clock_timestamp()) / 86400)';

export const moverByLogTime = eventMover.replace(dayByClock, () =>
  dayByClock.replace('clock_timestamp()', 'state.log_time'),
);

/** `passed` is for how long its caller has known that it kept the time; null at its first call. */
const maintenanceByLogTime = `create function @schema.petstore_maintain_events(
    retention interval, passed interval default null) returns bigint
    language plpgsql security definer set search_path = @schema, pg_temp set lock_timeout = '100ms' as $$
  declare
    present timestamptz := clock_timestamp();
    state event_state;
    old record;
    last_dropped record;
  begin
    if retention < interval '1 day' or retention > interval '30 days' then
      raise exception 'Events are kept for 1 to 30 days, not %.', retention;
    end if;
    if pg_try_advisory_xact_lock(7338474785) then
      -- A second is for what the call takes. Beside another process that keeps the time, less has passed since.
      update event_state set timed_at = present, log_time = log_time
        + greatest(least(present - timed_at, coalesce(passed + interval '1 second', present - timed_at)), interval '0')
      returning * into state;
      begin
        for old in
          select relname as name from pg_inherits join pg_class on pg_class.oid = inhrelid
          where inhparent = 'events'::regclass
            and (to_date(substr(relname, 8), 'YYYYMMDD') + 1)::timestamp at time zone 'UTC' <= state.log_time - retention
          order by relname
        loop
          execute format('select position, salt from %I order by position desc limit 1', old.name) into last_dropped;
          execute format('drop table %I', old.name);
          update event_state set dropped_position = last_dropped.position, dropped_salt = last_dropped.salt
          where last_dropped.position is not null;
        end loop;
        if pg_relation_size('event_outbox') > 1048576 and not exists (select from event_outbox) then
          lock table event_outbox in access exclusive mode nowait;
          -- Also what was committed while it waited.
          if not exists (select from event_outbox) then truncate event_outbox; end if;
        end if;
        if pg_relation_size('event_backlog') > 1048576 and not exists (select from event_backlog) then
          truncate event_backlog;
        end if;
      exception
        when lock_not_available then null;
      end;
    end if;
    return (select coalesce(sum(pg_total_relation_size(inhrelid)), 0) from pg_inherits where inhparent = 'events'::regclass);
  end
  $$`;
