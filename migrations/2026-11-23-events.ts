import { Migration } from '@mikro-orm/migrations';

/**
 * The log of changes.
 *
 * Model: statement triggers write each change into `event_outbox`, inside the transaction that makes it. `petstore_move_events` moves what
 * has been committed into `events`, in the order of the outbox's ids, and alone gives positions. It runs under a lock, so there is one at a
 * time, and each run is one transaction. `event_state` remembers the last position.
 *
 * Guarantees: a position is given after the commit, so whoever has read up to one has missed nothing before it. A later change of one row
 * waits for the earlier one to commit before its trigger runs, so the ids of one row's changes have the order of their commits. What another
 * transaction, or another database of the server, holds open doesn't matter.
 *
 * Failures: a killed run leaves everything as it was. After a crash the sequence of the outbox's ids may go back only to ids that
 * were never committed. After a restore the position may be given again, with another salt, so that readers notice.
 *
 * The previous version runs on; while none of this version runs, changes wait in the outbox.
 */
export class EventsMigration extends Migration {
  override up(): void {
    for (const statement of [...tables, ...outboxFunctions, ...triggers, mover, maintenance, ...hardening]) {
      this.addSql(statement);
    }
  }

  override down(): void {
    for (const { table } of sources) {
      for (const event of ['insert', 'update', 'delete', 'truncate'])
        this.addSql(`drop trigger events_${event} on ${table}`);
    }
    this.addSql(`drop function ${functions.join(', ')}`);
    this.addSql('drop table events, event_outbox, event_state');
  }
}

/**
 * A position is the day (since 1970, in UTC) in which it was given and a number within that day, so that the partitions of days, whose
 * bounds are known in advance, are in the order of positions.
 */
const dayBits = 40;

const tables = [
  // `half_before` and `half_after` are the status of a pet or the quantity of an inventory entry: the halves of an entry's state.
  `create table event_outbox (
    id bigint generated always as identity primary key,
    at timestamptz(3) not null default clock_timestamp(),
    type text not null,
    object_id bigint,
    half_before text,
    half_after text,
    body jsonb
  ) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_analyze_threshold = 10000)`,
  `create index event_outbox_deletions on event_outbox (type, object_id) where type in ('pet.deleted', 'inventory.deleted')`,
  `create table events (
    position bigint primary key,
    salt bigint not null,
    type text not null,
    at timestamptz(3) not null,
    object_id bigint,
    body jsonb
  ) partition by range (position)`,
  // The last event, and the last of those whose partitions were dropped: readers at these have missed nothing.
  `create table event_state (
    is_only boolean primary key default true check (is_only),
    position bigint not null default 0,
    salt bigint not null,
    dropped_position bigint,
    dropped_salt bigint,
    mover text,
    moved_at timestamptz not null default now()
  ) with (fillfactor = 50)`,
  // Who has read up to the beginning has missed nothing.
  `insert into event_state (salt, dropped_position, dropped_salt)
    select salt, 0, salt from (select hashtextextended(gen_random_uuid()::text, 0) as salt) as beginning`,
];

interface Source {
  readonly table: string;
  readonly noun: string;
  readonly id: string;
  readonly deleted: string;
  /** The column that is a half of an inventory entry's state. */
  readonly half?: string;
}

const sources: readonly Source[] = [
  { table: 'categories', noun: 'category', id: 'id', deleted: 'deleted' },
  { table: 'pets', noun: 'pet', id: 'id', deleted: 'deleted', half: 'status' },
  { table: 'orders', noun: 'order', id: 'id', deleted: 'cancelled' },
  { table: 'inventory', noun: 'inventory', id: 'pet_id', deleted: 'deleted', half: 'quantity' },
];

/**
 * A deleted entry. In a cascade its pet is gone already, and has been written into the outbox: PostgreSQL fires the triggers of
 * the rows that a foreign key deletes after those of the statement itself.
 */
const entryBefore = `to_jsonb(was) || case when exists (select from pets where id = was.pet_id) then '{}' else coalesce(
        (select jsonb_build_object('status', half_before) from event_outbox
          where type = 'pet.deleted' and object_id = was.pet_id order by id desc limit 1), '{}') end`;

/** One resynchronization for each transaction: the setting is rolled back with a savepoint, as its row is. */
const outboxFunctions = [
  `create function petstore_event_resync() returns void language plpgsql security definer as $$
  begin
    if current_setting('petstore.events_resync', true) is distinct from pg_current_xact_id()::text then
      insert into event_outbox (type) values ('store.resync');
      perform set_config('petstore.events_resync', pg_current_xact_id()::text, true);
    end if;
  end
  $$`,
  `create function petstore_event_truncation() returns trigger language plpgsql security definer as $$
  begin
    perform petstore_event_resync();
    return null;
  end
  $$`,
  ...sources.flatMap(outboxFunctionsOf),
];

/** A change of the id itself is a deletion and a creation. */
function outboxFunctionsOf({ noun, id, deleted, half }: Source): string[] {
  const halfOf = (row: string): string => (half === undefined ? 'null' : `${row}.${half}::text`);
  const into = 'insert into event_outbox (type, object_id, half_before, half_after, body)';
  const bodyBefore = noun === 'inventory' ? entryBefore : 'to_jsonb(was)';
  const changes = {
    insert: `${into} select '${noun}.created', became.${id}, null, ${halfOf('became')}, to_jsonb(became) from became`,
    update: `${into}
      select '${noun}.' || case when was.${id} is null then 'created' when became.${id} is null then '${deleted}' else 'updated' end,
        coalesce(became.${id}, was.${id}), ${halfOf('was')}, ${halfOf('became')}, coalesce(to_jsonb(became), to_jsonb(was))
      from was full join became on became.${id} = was.${id} where was is distinct from became`,
    delete: `${into} select '${noun}.${deleted}', was.${id}, ${halfOf('was')}, null, ${bodyBefore} from was`,
  };
  return Object.entries(changes).map(
    ([event, statement]) => `create function petstore_${noun}_${event}_events() returns trigger
    language plpgsql security definer set timezone = 'UTC' ${noun === 'inventory' ? 'set enable_seqscan = off' : ''} as $$
  begin
    if current_setting('petstore.events', true) = 'off' then
      if exists (select from ${event === 'delete' ? 'was' : 'became'}) then perform petstore_event_resync(); end if;
    else
      ${statement};
    end if;
    return null;
  end
  $$`,
  );
}

const transitionTables = {
  insert: 'new table as became',
  update: 'old table as was new table as became',
  delete: 'old table as was',
};

const triggers = sources.flatMap(({ table, noun }) => [
  ...Object.entries(transitionTables).map(
    ([event, rows]) => `create trigger events_${event} after ${event} on ${table} referencing ${rows}
    for each statement execute function petstore_${noun}_${event}_events()`,
  ),
  `create trigger events_truncate after truncate on ${table} for each statement execute function petstore_event_truncation()`,
]);

/**
 * The status of the pet of the inventory entry in `known`: as the changes before it in this run left it, or as those after it found it, or as it is now,
 * or as it was when the pet was deleted, in a change that a later run moves. The quantity in the same way.
 */
const statusOfEntry = `case
        when body ? 'status' then body ->> 'status'
        when pet_changes > 0 then status_then
        when pet_changes_in_all > 0 then first_status
        else coalesce(
          (select status from pets where id = object_id),
          (select half_before from event_outbox as later where later.type = 'pet.deleted' and later.object_id = known.object_id
            order by later.id limit 1))
      end`;
const quantityOfEntry = `case
        when item_changes > 0 then quantity_then
        when item_changes_in_all > 0 then first_quantity
        else coalesce(
          (select quantity::text from inventory where pet_id = object_id),
          (select half_before from event_outbox as later where later.type = 'inventory.deleted' and later.object_id = known.object_id
            order by later.id limit 1))
      end`;

/**
 * Moves at most so many committed changes into the log. The mover that moved last goes on; another one takes over when nothing has been
 * moved for a second.
 *
 * An entry's state has two halves, in two tables, which two transactions may change at the same time. Each of its events has the newest of
 * both, as one statement sees them, so that its last event is its state. (Where more
 * changes wait than one run moves, the other half may be ahead of changes that a later run moves.) What refers to rows that are gone is left out: a resynchronization follows.
 */
const mover = `create function petstore_move_events(who text, max_rows int,
    out moved int, out last_mover text, out lag_seconds float8) language plpgsql security definer set enable_seqscan = off as $$
  declare
    state event_state;
    day bigint;
    partition_name text;
    last_position bigint;
    last_salt bigint;
  begin
    moved := 0;
    lag_seconds := 0;
    -- Before the statements below: each of them sees what the run before has committed.
    if not pg_try_advisory_xact_lock(7338474785) then
      select mover into last_mover from event_state;
      return;
    end if;
    select * into state from event_state;
    last_mover := state.mover;
    if not exists (select from event_outbox) then return; end if;
    if state.mover <> who and state.moved_at > clock_timestamp() - interval '1 second' then return; end if;

    day := greatest(floor(extract(epoch from clock_timestamp()) / 86400)::bigint, state.position >> ${dayBits});
    partition_name := 'events_' || to_char(date '1970-01-01' + day::int, 'YYYYMMDD');
    if to_regclass(partition_name) is null then
      -- Not \`partition of\`, which would wait for every reader of the log.
      execute format('create table %I (like events including all)', partition_name);
      execute format('alter table events attach partition %I for values from (%s) to (%s)',
        partition_name, day << ${dayBits}, (day + 1) << ${dayBits});
    end if;

    with changes as (
      delete from event_outbox where id = any (array(select id from event_outbox order by id limit max_rows)) returning *
    ), counted as (
      select *,
        count(*) filter (where type like 'pet.%') over earlier as pet_changes,
        count(*) filter (where type like 'inventory.%') over earlier as item_changes,
        count(*) filter (where type like 'pet.%') over object as pet_changes_in_all,
        count(*) filter (where type like 'inventory.%') over object as item_changes_in_all
      from changes
      window object as (partition by object_id), earlier as (partition by object_id order by id)
    ), known as (
      select *,
        first_value(half_after) over (partition by object_id, pet_changes order by id) as status_then,
        first_value(half_after) over (partition by object_id, item_changes order by id) as quantity_then,
        max(half_before) filter (where type like 'pet.%' and pet_changes = 1) over object as first_status,
        max(half_before) filter (where type like 'inventory.%' and item_changes = 1) over object as first_quantity
      from counted
      window object as (partition by object_id)
    ), entries as (
      select id, 0 as part, at, type, object_id, ${statusOfEntry} as status, half_after, half_before, body
      from known where type like 'inventory.%'
    ), pets_of_entries as (
      select id, 1 as part, at, object_id, half_after as status, ${quantityOfEntry} as quantity
      from known where type = 'pet.updated' and half_before <> half_after
    ), complete as (
      select id, 0 as part, at, type, object_id, body from changes where type not like 'inventory.%'
      union all
      select id, part, at, type, object_id, body || jsonb_build_object('status', status) from entries where status is not null
      union all
      select id, part, at, 'inventory.updated', object_id,
        jsonb_build_object('pet_id', object_id, 'quantity', quantity::int, 'status', status)
      from pets_of_entries where quantity is not null
    ), logged as (
      insert into events (position, salt, type, at, object_id, body)
      select greatest(state.position, day << ${dayBits}) + row_number() over (order by id, part),
        hashtextextended(gen_random_uuid()::text, 0), type, at, object_id, body
      from complete
      returning position, salt
    )
    select (select count(*) from changes), max(position), (array_agg(salt order by position desc))[1]
    into moved, last_position, last_salt from logged;

    last_mover := who;
    update event_state set position = coalesce(last_position, position), salt = coalesce(last_salt, salt),
      mover = who, moved_at = clock_timestamp();
    select extract(epoch from clock_timestamp() - at) into lag_seconds from event_outbox order by id limit 1;
    lag_seconds := coalesce(lag_seconds, 0);
  end
  $$`;

/**
 * Drops the days that are older than the retention, and makes an outbox small that is empty but large: nothing vacuums the embedded database,
 * and on a server a transaction that stays open for long keeps deleted rows. Where a lock isn't free at once, the next run does it.
 */
const maintenance = `create function petstore_maintain_events(retention interval) returns void
    language plpgsql security definer set lock_timeout = '100ms' as $$
  declare
    old record;
    last_dropped record;
  begin
    if retention < interval '1 day' or retention > interval '30 days' then
      raise exception 'Events are kept for 1 to 30 days, not %.', retention;
    end if;
    if not pg_try_advisory_xact_lock(7338474785) then return; end if;
    for old in
      select relname as name from pg_inherits join pg_class on pg_class.oid = inhrelid
      where inhparent = 'events'::regclass
        and (to_date(substr(relname, 8), 'YYYYMMDD') + 1)::timestamp at time zone 'UTC' <= clock_timestamp() - retention
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
  exception
    when lock_not_available then return;
  end
  $$`;

const functions = [
  ...sources.flatMap(({ noun }) => ['insert', 'update', 'delete'].map((event) => `petstore_${noun}_${event}_events()`)),
  'petstore_event_truncation()',
  'petstore_event_resync()',
  'petstore_move_events(text, int)',
  'petstore_maintain_events(interval)',
];

/** They run with the rights of whoever migrates, so nobody else may put a table of his own before ours. */
const hardening = [
  `do $do$
  begin
    execute (
      select string_agg(format('alter function %s set search_path = %I, pg_temp', name, current_schema()), ';')
      from unnest(array[${functions.map((each) => `'${each}'`).join(', ')}]) as name
    );
  end
  $do$`,
  'revoke execute on function petstore_maintain_events(interval), petstore_move_events(text, int) from public',
];
