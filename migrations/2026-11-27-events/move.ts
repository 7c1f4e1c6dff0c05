/**
 * Moves at most `max_rows` committed changes into the log, and the deleted entries of deleted pets among them. The
 * process that moved last, the leader, goes on; another one follows when nothing has been moved for a second. A position
 * is the day (since 1970, in UTC) times 2^40 and a number within the day, so that the days' partitions are in its order.
 * Plans are made once, when the tables are small, and kept when they are large: hence the settings.
 *
 * An inventory entry's state has two halves in two tables, which two transactions may change at once. Each of its events
 * has the other half as the changes that wait leave it: the one before it says what the half became, else the one after
 * it what it was, else it is as it is now. One statement sees all, so an entry's last event is its state. In a cascade
 * the pet's deletion comes first. Where nothing knows the other half, after TRUNCATE for example, the event is left out.
 *
 * The outbox has no index. More than a run can take goes into the backlog, which has one: otherwise each run would read
 * all that waits. Until the backlog is empty everything goes through it, in the order of the ids. `backlog_from` is a
 * lower bound of them, so that no run reads again the deleted rows that an open transaction keeps in the index.
 */
export const eventMoves = `
  create function @schema.petstore_move_events(
    who text, max_rows int, out moved int, out is_leader boolean, out lag_seconds float8
  ) language plpgsql security definer set search_path = @schema, pg_temp set timezone = 'UTC' set enable_seqscan = off
    set enable_nestloop = off set jit = off set plan_cache_mode = force_generic_plan as $$
  declare
    state event_state; is_first boolean; day bigint; partition_name text;
    run_nonce bigint; last_position bigint; last_nonce bigint;
    uses_backlog boolean; max_taken int := 5 * max_rows; first_taken bigint;
    -- Of the first change in the backlog that this run leaves; null when it takes all of them.
    next_id bigint;
  begin
    moved := 0; lag_seconds := 0;
    -- Before the statements below: each of them sees what the run before has committed.
    is_first := pg_try_advisory_xact_lock(7338474785);
    select * into state from event_state;
    is_leader := state.leader is null or state.leader = who; uses_backlog := state.backlog_from is not null;
    if not uses_backlog and not exists (select from event_outbox) then return; end if;
    -- A clock that was set back must not keep a leader that is dead.
    if not is_first or not is_leader and abs(extract(epoch from clock_timestamp() - state.moved_at)) < 1 then
      -- What waits may have been committed a moment ago, long after its statement.
      select coalesce(extract(epoch from clock_timestamp() - greatest(min(at), state.moved_at)), 0) into lag_seconds
      from (select at from event_outbox limit 20000) as waiting;
      return;
    end if;
    is_leader := true;
    -- Changes that can't become events, which triggers don't write, are one \`store.resync\`.
    begin
    uses_backlog := uses_backlog or exists (select from event_outbox offset max_rows);
    if uses_backlog then
      with taken as (
        delete from event_outbox where ctid = any (array(select ctid from event_outbox limit max_taken)) returning *),
      added as (insert into event_backlog select * from taken returning id)
      select count(*), min(id) into moved, first_taken from added;
      state.backlog_from := least(state.backlog_from, first_taken);
      select extract(epoch from clock_timestamp() - at) into lag_seconds
      from event_backlog where id >= state.backlog_from order by id limit 1;
      if moved = max_taken then
        update event_state set backlog_from = state.backlog_from, leader = who, moved_at = clock_timestamp(); return;
      end if;
      select id into next_id from event_backlog where id >= state.backlog_from order by id offset max_rows limit 1;
    end if;
    day := greatest(floor(extract(epoch from state.log_time) / 86400)::bigint, state.position >> 40);
    partition_name := 'events_' || to_char(date '1970-01-01' + day::int, 'YYYYMMDD');
    if to_regclass(partition_name) is null then
      -- Not \`partition of\`, which would wait for every reader of the log.
      execute format('create table %I (like events including all, primary key (position))', partition_name);
      perform petstore_protect_events(to_regclass(partition_name));
      execute format('alter table events attach partition %I for values from (%s) to (%s)',
        partition_name, day << 40, (day + 1) << 40);
    end if;
    run_nonce := hashtextextended(gen_random_uuid()::text, 0);
    -- What this run takes.
    with of_outbox as (delete from event_outbox where not uses_backlog returning *),
    of_backlog as (
      delete from event_backlog
      where uses_backlog and id >= state.backlog_from and id < coalesce(next_id, 9223372036854775807) returning *),
    batch as not materialized (select * from of_outbox union all select * from of_backlog),
    deleted_pets as (select object_id from batch where type = 'pet.deleted'),
    -- What it leaves of the same objects, also what was committed since the outbox was read.
    rest as materialized (
      select * from event_backlog
      where next_id is not null and id >= next_id and object_id = any (array(select object_id from of_backlog))
      union all
      select * from event_outbox where uses_backlog and object_id in (select object_id from of_backlog)),
    -- An entry's deletion is in the run of its pet's: in a cascade it has a later id.
    entries_of_rest as (
      delete from event_backlog where id = any (array(
        select id from (
          select distinct on (object_id) id, type from rest
          where (type like 'pet.%' or type like 'inventory.%') and object_id in (select object_id from deleted_pets)
          order by object_id, id) as next where type = 'inventory.deleted')) returning *),
    changes as not materialized (select * from batch union all select * from entries_of_rest),
    -- The changes of entries and of pets that say more than one half: each needs the other half of its entry.
    halves as materialized (
      select id, type, object_id, type like 'pet.%' as is_pet, before, after
      from (select * from batch union all select * from rest) as waiting
      where (type like 'pet.%' or type like 'inventory.%') and object_id in (
        select object_id from batch where type = 'pet.deleted' or type = 'pet.updated' and before is not null
        union all
        select object_id from rest where type = 'pet.deleted' or type = 'pet.updated' and before is not null)),
    -- The change from which each knows the other half: the one before it, else the one after it.
    linked as (
      select id, is_pet, case when is_pet
        then coalesce(max(id) filter (where not is_pet) over earlier, min(id) filter (where not is_pet) over of_object)
        else coalesce(max(id) filter (where is_pet) over earlier, min(id) filter (where is_pet) over of_object)
        end as other_id
      from halves window of_object as (partition by object_id), earlier as (partition by object_id order by id)),
    -- Entries' events, and those that a pet's new status makes of its entry, with the other half.
    completed as materialized (
      select change.*, change.type = 'pet.updated' as is_pet, case
        when other.id is null and change.type = 'pet.updated'
          then (select quantity::text from inventory where pet_id = change.object_id)
        when other.id is null then (select status from pets where pets.id = change.object_id)
        when other.id < change.id and other.type <> 'inventory.deleted' then other.after
        when other.id > change.id and other.type <> 'inventory.created' then coalesce(other.before, other.after)
        end as other_half
      from changes as change left join linked using (id) left join halves as other on other.id = linked.other_id
      where change.type like 'inventory.%' or change.type = 'pet.updated' and change.before is not null),
    -- All events with their bodies; \`part\` puts an entry's behind the pet's of the same change.
    complete as (
      select id, 0 as part, at, type, object_id,
        case when type like 'order.%' then row_to_json(json_populate_record(null::orders, body)) else body end as body, request
      from changes where type not like 'inventory.%'
      union all
      select id, is_pet::int, at, case when is_pet then 'inventory.updated' else type end, object_id,
        format('{"pet_id":%s,"quantity":%s,"status":%s}', object_id, case when is_pet then other_half else after end,
          to_json(case when is_pet then after else other_half end))::json, request
      from completed where other_half is not null),
    positioned as (
      select *, greatest(state.position, day << 40) + row_number() over (order by id, part) as position from complete),
    logged as (
      insert into events (position, nonce, type, at, object_id, body, request)
      select position, hashint8extended(position, run_nonce), type, at, object_id, body, nullif(request, '')
      from positioned
      returning position)
    select (select count(*) from changes), max(position) into moved, last_position from logged;
    last_nonce := hashint8extended(last_position, run_nonce);
    update event_state set position = coalesce(last_position, position), nonce = coalesce(last_nonce, nonce),
      backlog_from = next_id, leader = who, moved_at = clock_timestamp();
    -- What was committed during this run has not waited.
    if next_id is null then lag_seconds := 0; end if;
    exception when data_exception then
      raise warning 'Changes that can not become events are a store.resync: %', sqlerrm;
      delete from event_outbox where ctid = any (array(select ctid from event_outbox limit max_taken));
      delete from event_backlog where id in (select id from event_backlog order by id limit max_rows);
      insert into event_outbox (type) values ('store.resync'); moved := 1;
    end;
  end $$`;

/**
 * Drops the days that are older than the retention, and makes an outbox or backlog small that is empty but large:
 * nothing vacuums the embedded database, and on a server a transaction that stays open for long keeps deleted rows.
 * Where a lock isn't free at once, the next run does it. A day's age is told by `log_time`, which goes on by as much as
 * the clock, but by no more than has passed for the process that keeps it (`passed`, null at its first call): a jump of
 * the clock doesn't change it. Returns the bytes of the log.
 */
export const eventMaintenance = `
  create function @schema.petstore_maintain_events(retention interval, passed interval default null) returns bigint
    language plpgsql security definer set search_path = @schema, pg_temp set lock_timeout = '100ms' as $$
  declare present timestamptz := clock_timestamp(); state event_state; old record; last_dropped record;
  begin
    if retention < interval '1 day' or retention > interval '30 days' then
      raise exception 'Events are kept for 1 to 30 days, not %.', retention; end if;
    if pg_try_advisory_xact_lock(7338474785) then
      -- A second is for what the call takes. Beside another process that keeps the time, less has passed since.
      update event_state set timed_at = present, log_time = log_time
        + greatest(least(present - timed_at, coalesce(passed + interval '1 second', present - timed_at)), interval '0')
      returning * into state;
      begin
        for old in
          select relname as name from pg_inherits join pg_class on pg_class.oid = inhrelid
          where inhparent = 'events'::regclass and
            (to_date(substr(relname, 8), 'YYYYMMDD') + 1)::timestamp at time zone 'UTC' <= state.log_time - retention
          order by relname
        loop
          execute format('select position, nonce from %I order by position desc limit 1', old.name) into last_dropped;
          execute format('drop table %I', old.name);
          update event_state set dropped_position = last_dropped.position, dropped_nonce = last_dropped.nonce
          where last_dropped.position is not null;
        end loop;
        if pg_relation_size('event_outbox') > 1048576 and not exists (select from event_outbox) then
          lock table event_outbox in access exclusive mode nowait;
          -- Also what was committed while it waited.
          if not exists (select from event_outbox) then truncate event_outbox; end if;
        end if;
        if pg_relation_size('event_backlog') > 1048576 and not exists (select from event_backlog)
          then truncate event_backlog; end if;
      exception when lock_not_available then null; end;
    end if;
    return (select coalesce(sum(pg_total_relation_size(inhrelid)), 0)
      from pg_inherits where inhparent = 'events'::regclass);
  end $$`;
