import { eventMover } from '../2026-11-25-event-halves.ts';

/**
 * The day in which the first event of a partition was given its position. Those that were made by the version before
 * have no comment: it is the one of their name.
 */
export const partitionDay = `create function @schema.petstore_event_day(relation regclass) returns date language sql stable
    set search_path = pg_catalog, pg_temp as $$
    select coalesce(substring(obj_description(oid, 'pg_class') from '^begun on (\\d{4}-\\d\\d-\\d\\d)$')::date,
      to_date(substr(relname, 8), 'YYYYMMDD'))
    from pg_class where oid = relation
  $$`;

const dayBits = 40;

const dayByClock =
  'day := greatest(floor(extract(epoch from clock_timestamp()) / 86400)::bigint, state.position >> 40);';
const partitionMade = 'perform petstore_protect_events(to_regclass(partition_name));';

/**
 * The mover begins a partition whenever the day is another one than that in which the last one was begun, also an
 * earlier one: positions only grow, so after a clock that was days ahead the names of partitions stay ahead of their
 * days.
 */
export const eventMoverByDay = replaced(
  replaced(
    eventMover,
    dayByClock,
    `day := floor(extract(epoch from clock_timestamp()) / 86400)::bigint;
    if petstore_event_day(to_regclass('events_' || to_char(date '1970-01-01' + (state.position >> ${dayBits})::int, 'YYYYMMDD')))
        = date '1970-01-01' + day::int then
      day := state.position >> ${dayBits};
    else
      day := greatest(day, (state.position >> ${dayBits}) + 1);
    end if;`,
  ),
  partitionMade,
  `${partitionMade}
      execute format('comment on table %I is %L', partition_name, 'begun on ' || (clock_timestamp() at time zone 'UTC')::date);`,
);

function replaced(text: string, old: string, by: string): string {
  if (text.split(old).length !== 2) throw new Error(`The mover of events has no single "${old}".`);
  return text.replace(old, () => by);
}

/**
 * Drops the days that are older than the retention; see the migration of the log for the rest.
 *
 * `no_later_than` bounds the clock: a caller that has seen it jump forth drops nothing until it believes it.
 *
 * The days in which partitions were begun are in order but for a clock that was wrong in between. Those of the longest
 * sequence in order are taken as they are; any other partition is as old as the next of those, or a day younger. So what was logged after a wrong clock isn't kept beyond the retention, nor is anything dropped before.
 */
export const eventMaintenanceByDay = `create function @schema.petstore_maintain_events(
    retention interval, no_later_than timestamptz default 'infinity') returns bigint
    language plpgsql security definer set search_path = @schema, pg_temp set lock_timeout = '100ms' as $$
  declare
    present timestamptz := clock_timestamp();
    partitions regclass[];
    begun date[];
    -- Of the longest sequence in order that ends with each day.
    lengths int[];
    right_day int;
    are_right boolean[];
    latest date;
    last_dropped record;
  begin
    if retention < interval '1 day' or retention > interval '30 days' then
      raise exception 'Events are kept for 1 to 30 days, not %.', retention;
    end if;
    begin
      if pg_try_advisory_xact_lock(7338474785) then
        select array_agg(oid::regclass order by relname), array_agg(petstore_event_day(oid) order by relname)
        into partitions, begun
        from pg_inherits join pg_class on pg_class.oid = inhrelid where inhparent = 'events'::regclass;
        latest := (present at time zone 'UTC')::date;
        for index in 1 .. coalesce(cardinality(begun), 0) loop
          -- An earlier day than the first one is of a clock that was behind, unless the first one is yet to come.
          lengths[index] := case when begun[index] >= begun[1] or begun[1] > latest then 1 + coalesce((
            select max(lengths[earlier]) from generate_series(1, index - 1) as earlier where begun[earlier] <= begun[index]
          ), 0) else 0 end;
        end loop;
        right_day := (select max(index) from generate_subscripts(begun, 1) as index
          where lengths[index] = (select max(length) from unnest(lengths) as length));
        while right_day is not null loop
          are_right[right_day] := true;
          right_day := (select index from generate_series(1, right_day - 1) as index
            where lengths[index] = lengths[right_day] - 1 and begun[index] <= begun[right_day]
            order by begun[index] desc, index desc limit 1);
        end loop;
        for index in reverse coalesce(cardinality(begun), 0) .. 1 loop
          if are_right[index] then latest := begun[index];
          else begun[index] := latest + (begun[index] > latest)::int;
          end if;
        end loop;
        for index in 1 .. coalesce(cardinality(begun), 0) loop
          exit when (begun[index] + 1)::timestamp at time zone 'UTC' > least(present, no_later_than) - retention;
          execute format('select position, salt from %s order by position desc limit 1', partitions[index]) into last_dropped;
          execute format('drop table %s', partitions[index]);
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
      end if;
    exception
      when lock_not_available then null;
    end;
    return (select coalesce(sum(pg_total_relation_size(inhrelid)), 0) from pg_inherits where inhparent = 'events'::regclass);
  end
  $$`;
