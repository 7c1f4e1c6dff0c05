interface RecordedTable {
  readonly table: string;
  readonly noun: string;
  readonly id: string;
  readonly deleted: string;
  /** The column that is half of an inventory entry's state. */
  readonly half?: string;
  /** Whether the half is all that there is to say. */
  readonly isOnlyHalf?: true;
}

/** The tables whose changes are events. */
export const sources: readonly RecordedTable[] = [
  { table: 'categories', noun: 'category', id: 'id', deleted: 'deleted' },
  {
    table: 'pets',
    noun: 'pet',
    id: 'id',
    deleted: 'deleted',
    half: 'status',
  },
  { table: 'orders', noun: 'order', id: 'id', deleted: 'cancelled' },
  { table: 'inventory', noun: 'inventory', id: 'pet_id', deleted: 'deleted', half: 'quantity', isOnlyHalf: true },
];

/**
 * The functions of the triggers run with the rights of their owner, so that the service needs none on the outbox. `set
 * search_path` would cost as much as the rest of such a function: instead all their names, operators too, are
 * qualified, so that the caller's search path decides nothing. `was` and `became` are transition tables, which come
 * before any table of that name.
 */
export const eventFunctions: readonly string[] = [
  // What default privileges allow other roles: only the functions write. Partitions are read by way of `events`.
  `create function @schema.petstore_protect_events(relation regclass) returns void language plpgsql
    set search_path = pg_catalog, pg_temp as $$
  declare
    grantee text;
  begin
    for grantee in
      select distinct case right_of.grantee when 0 then 'public' else right_of.grantee::regrole::text end
      from pg_class cross join aclexplode(relacl) as right_of
      where pg_class.oid = relation and right_of.grantee <> relowner
    loop
      execute format('revoke insert, update, delete, truncate, references, trigger on %s from %s', relation, grantee);
    end loop;
  end
  $$`,
  // One resynchronization for each transaction: the setting is rolled back with a savepoint, as its row is.
  `create function @schema.petstore_event_resync() returns void language plpgsql security definer set search_path = @schema, pg_temp as $$
  begin
    if current_setting('petstore.events_resync', true) is distinct from pg_current_xact_id()::text then
      insert into event_outbox (type) values ('store.resync');
      perform set_config('petstore.events_resync', pg_current_xact_id()::text, true);
    end if;
  end
  $$`,
  `create function @schema.petstore_event_truncation() returns trigger language plpgsql security definer set search_path = @schema, pg_temp as $$
  begin
    perform petstore_event_resync();
    return null;
  end
  $$`,
  ...sources.flatMap(outboxFunctionsOf),
];

/** A change of the id itself is a deletion and a creation; a change that changes nothing is none. */
function outboxFunctionsOf({ noun, id, deleted, half, isOnlyHalf }: RecordedTable): string[] {
  const into = 'insert into @schema.event_outbox (type, object_id, before, after, body)';
  const halfOf = (row: string): string => (half === undefined ? 'null' : `${row}.${half}`);
  const bodyOf = (row: string): string => (isOnlyHalf ? 'null' : `pg_catalog.row_to_json(${row})`);
  const before =
    half === undefined ? 'null' : `case when was.${half} operator(pg_catalog.<>) became.${half} then was.${half} end`;
  const changes = {
    insert: `${into} select '${noun}.created', became.${id}, null, ${halfOf('became')}, ${bodyOf('became')} from became`,
    update: `${into}
      select case when was.${id} is null then '${noun}.created' when became.${id} is null then '${noun}.${deleted}' else '${noun}.updated' end,
        coalesce(became.${id}, was.${id}), ${before}, coalesce(${halfOf('became')}, ${halfOf('was')}),
        ${isOnlyHalf ? 'null' : `coalesce(${bodyOf('became')}, ${bodyOf('was')})`}
      from was full join became on became.${id} operator(pg_catalog.=) was.${id}
      where (was operator(pg_catalog.*<>) became) is not false`,
    delete: `${into} select '${noun}.${deleted}', was.${id}, null, ${halfOf('was')}, ${bodyOf('was')} from was`,
  };
  return Object.entries(changes).map(
    ([event, statement]) => `create function @schema.petstore_${noun}_${event}_events() returns trigger
    language plpgsql security definer as $$
  begin
    if pg_catalog.current_setting('petstore.events', true) operator(pg_catalog.=) 'off' then
      if exists (select from ${event === 'delete' ? 'was' : 'became'}) then perform @schema.petstore_event_resync(); end if;
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

function triggersOf({ table, noun }: RecordedTable): string[] {
  const changes = Object.entries(transitionTables).map(
    ([event, rows]) => `create trigger events_${event} after ${event} on ${table} referencing ${rows}
    for each statement execute function petstore_${noun}_${event}_events()`,
  );
  const truncation = `create trigger events_truncate after truncate on ${table} for each statement execute function petstore_event_truncation()`;
  return changes.concat(truncation);
}

export const eventTriggers: readonly string[] = sources.flatMap(triggersOf);
