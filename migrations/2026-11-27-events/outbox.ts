/**
 * The functions of the triggers run with the rights of their owner, so that the service needs none on the outbox. `set
 * search_path` would cost as much as the rest of such a function: instead all their names, operators too, are
 * qualified, so that the caller's search path decides nothing. `was` and `became` are transition tables, which come
 * before any table of that name.
 */
export const outboxFunctions = `
  -- What default privileges allow other roles: only the functions write. Partitions are read by way of \`events\`.
  create function @schema.petstore_protect_events(relation regclass) returns void language plpgsql
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
  $$;

  -- One resynchronization for each transaction: the setting is rolled back with a savepoint, as its row is.
  create function @schema.petstore_event_resync() returns void language plpgsql security definer
    set search_path = @schema, pg_temp as $$
  begin
    if current_setting('petstore.events_resync', true) is distinct from pg_current_xact_id()::text then
      insert into event_outbox (type) values ('store.resync');
      perform set_config('petstore.events_resync', pg_current_xact_id()::text, true);
    end if;
  end
  $$;
  revoke execute on function @schema.petstore_event_resync() from public;

  create function @schema.petstore_event_truncation() returns trigger language plpgsql security definer
    set search_path = @schema, pg_temp as $$
  begin
    perform petstore_event_resync();
    return null;
  end
  $$`;

interface RecordedTable {
  readonly table: string;
  readonly noun: string;
  readonly id?: string;
  readonly deleted?: string;
  /** The column that is half of an inventory entry's state. */
  readonly half?: string;
  /** Whether the half is all that there is to say. */
  readonly isOnlyHalf?: true;
}

const recordedTables: readonly RecordedTable[] = [
  { table: 'categories', noun: 'category' },
  { table: 'pets', noun: 'pet', half: 'status' },
  { table: 'orders', noun: 'order', deleted: 'cancelled' },
  { table: 'inventory', noun: 'inventory', id: 'pet_id', half: 'quantity', isOnlyHalf: true },
];

/** The triggers of the tables above, and their functions. */
export const outboxTriggers = recordedTables.map(triggersOf).join(';');

/** A change of the id itself is a deletion and a creation; a change that changes nothing is none. */
function triggersOf({ table, noun, id = 'id', deleted = 'deleted', half, isOnlyHalf }: RecordedTable): string {
  const into = 'insert into @schema.event_outbox (type, object_id, before, after, body)';
  const halfOf = (row: string): string => (half === undefined ? 'null' : `${row}.${half}`);
  const bodyOf = (row: string): string => (isOnlyHalf ? 'null' : `pg_catalog.row_to_json(${row})`);
  const before =
    half === undefined ? 'null' : `case when was.${half} operator(pg_catalog.<>) became.${half} then was.${half} end`;
  const recording = (event: string, rows: string, changed: string, statement: string): string => `
  create function @schema.petstore_${noun}_${event}_events() returns trigger language plpgsql security definer as $$
  begin
    if pg_catalog.current_setting('petstore.events', true) operator(pg_catalog.=) 'off' then
      if exists (select from ${changed}) then perform @schema.petstore_event_resync(); end if;
    else
      ${statement};
    end if;
    return null;
  end
  $$;
  create trigger events_${event} after ${event} on ${table} referencing ${rows}
    for each statement execute function petstore_${noun}_${event}_events()`;
  return [
    recording(
      'insert',
      'new table as became',
      'became',
      `${into} select '${noun}.created', became.${id}, null, ${halfOf('became')}, ${bodyOf('became')} from became`,
    ),
    recording(
      'update',
      'old table as was new table as became',
      'became',
      `${into}
      select case when was.${id} is null then '${noun}.created' when became.${id} is null then '${noun}.${deleted}' else '${noun}.updated' end,
        coalesce(became.${id}, was.${id}), ${before}, coalesce(${halfOf('became')}, ${halfOf('was')}),
        ${isOnlyHalf ? 'null' : `coalesce(${bodyOf('became')}, ${bodyOf('was')})`}
      from was full join became on became.${id} operator(pg_catalog.=) was.${id}
      where (was operator(pg_catalog.*<>) became) is not false`,
    ),
    recording(
      'delete',
      'old table as was',
      'was',
      `${into} select '${noun}.${deleted}', was.${id}, null, ${halfOf('was')}, ${bodyOf('was')} from was`,
    ),
    `create trigger events_truncate after truncate on ${table} for each statement execute function petstore_event_truncation()`,
  ].join(';');
}

/**
 * What the migration of a further noun calls, so that its changes are events: `petstore_record_events(table, noun)`
 * makes the triggers, as those of categories, `petstore_forget_events(table, noun)` takes them away.
 */
export const furtherTables = `
  create function petstore_record_events(
    source regclass, noun text, id name default 'id', deleted text default 'deleted'
  ) returns void language plpgsql as $record$
  declare
    home text := quote_ident(current_schema());
    outbox text := 'insert into ' || home || '.event_outbox (type, object_id, body)';
    change record;
  begin
    if noun !~ '^[a-z][a-z_]{0,30}$' then
      raise exception 'The noun % must be 1 to 31 lower-case letters and underscores.', quote_literal(noun);
    end if;
    for change in
      select * from (values
        ('insert', 'new table as became', 'became', format(
          '%1$s select ''%2$s.created'', became.%3$I, pg_catalog.row_to_json(became) from became',
          outbox, noun, id)),
        ('update', 'old table as was new table as became', 'became', format(
          '%1$s select case when was.%3$I is null then ''%2$s.created'' when became.%3$I is null then ''%2$s.%4$s'' else ''%2$s.updated'' end,
            coalesce(became.%3$I, was.%3$I), coalesce(pg_catalog.row_to_json(became), pg_catalog.row_to_json(was))
          from was full join became on became.%3$I operator(pg_catalog.=) was.%3$I
          where (was operator(pg_catalog.*<>) became) is not false',
          outbox, noun, id, deleted)),
        ('delete', 'old table as was', 'was', format(
          '%1$s select ''%2$s.%4$s'', was.%3$I, pg_catalog.row_to_json(was) from was',
          outbox, noun, id, deleted))
      ) as changes (event, transition, changed, statement)
    loop
      execute format(
        'create function %1$s.petstore_%2$s_%3$s_events() returns trigger language plpgsql security definer as $body$
        begin
          if pg_catalog.current_setting(''petstore.events'', true) operator(pg_catalog.=) ''off'' then
            if exists (select from %4$s) then perform %1$s.petstore_event_resync(); end if;
          else
            %5$s;
          end if;
          return null;
        end
        $body$', home, noun, change.event, change.changed, change.statement);
      execute format(
        'create trigger events_%1$s after %1$s on %2$s referencing %3$s
          for each statement execute function %4$s.petstore_%5$s_%1$s_events()',
        change.event, source, change.transition, home, noun);
    end loop;
    execute format(
      'create trigger events_truncate after truncate on %s for each statement execute function %s.petstore_event_truncation()',
      source, home);
  end
  $record$;

  create function petstore_forget_events(source regclass, noun text) returns void language plpgsql as $forget$
  declare
    event text;
  begin
    foreach event in array '{insert,update,delete,truncate}'::text[] loop
      execute format('drop trigger events_%s on %s', event, source);
    end loop;
    foreach event in array '{insert,update,delete}'::text[] loop
      execute format('drop function %I.%I()', current_schema(), format('petstore_%s_%s_events', noun, event));
    end loop;
  end
  $forget$;

  revoke execute on function petstore_record_events(regclass, text, name, text), petstore_forget_events(regclass, text) from public`;
