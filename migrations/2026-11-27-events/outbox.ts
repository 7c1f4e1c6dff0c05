/** What the triggers call. `@schema` is the one of the tables. */
export const outboxFunctions = `
  -- What default privileges allow other roles: only the functions write. Partitions are read by way of \`events\`.
  create function @schema.petstore_protect_events(relation regclass) returns void language plpgsql
    set search_path = pg_catalog, pg_temp as $$
  declare grantee text;
  begin
    for grantee in
      select distinct case right_of.grantee when 0 then 'public' else right_of.grantee::regrole::text end
      from pg_class cross join aclexplode(relacl) as right_of
      where pg_class.oid = relation and right_of.grantee <> relowner
    loop
      execute format('revoke insert, update, delete, truncate, references, trigger on %s from %s', relation, grantee);
    end loop;
  end $$;
  -- One resynchronization for each transaction: the setting is rolled back with a savepoint, as its row is.
  create function @schema.petstore_event_resync() returns void language plpgsql security definer
    set search_path = @schema, pg_temp as $$
  begin
    if current_setting('petstore.events_resync', true) is distinct from pg_current_xact_id()::text then
      insert into event_outbox (type) values ('store.resync');
      perform set_config('petstore.events_resync', pg_current_xact_id()::text, true);
    end if;
  end $$;
  revoke execute on function @schema.petstore_event_resync() from public;
  create function @schema.petstore_event_truncation() returns trigger language plpgsql security definer
    set search_path = @schema, pg_temp as $$
  begin perform petstore_event_resync(); return null; end $$`;

/**
 * A migration makes a table's triggers by `petstore_record_events(table, noun)`, and takes them away by
 * `petstore_forget_events(table, noun)`. Each change of a row is an event with the row as its body; one of the id itself
 * is a deletion and a creation, and one that changes nothing is none. Their functions run with their owner's rights, so
 * that the service needs none on the outbox. Names and operators are qualified, so that the caller's search path decides
 * nothing: `set search_path` costs as much as all the rest. `was` and `became` are transition tables. The
 * request is read for each row: a variable of the function, or a query within it, costs more until there are ten. Rows
 * that several requests insert together have a request each, in the order of their ids.
 */
export const outboxTriggers = `
  create function petstore_record_events(source regclass, noun text, id name default 'id',
    deleted text default 'deleted') returns void language plpgsql as $record$
  declare
    home text := quote_ident(current_schema());
    -- Half of an inventory entry's state is in its pet; an entry's own half is all that there is to say of it.
    half text := case noun when 'pet' then 'status' when 'inventory' then 'quantity' end;
    body text := case when noun <> 'inventory' then 'pg_catalog.row_to_json(%s)' end;
    into_outbox text := format('insert into %s.event_outbox (request, type, object_id, before, after, body) select', home);
    change record;
    selection text;
  begin
    if noun !~ '^[a-z][a-z_]{0,30}$' then
      raise exception 'The noun % must be 1 to 31 lower-case letters and underscores.', quote_literal(noun); end if;
    for change in
      select * from (values
        ('insert', 'new table as became', 'became',
          '''%1$s.created'', became.%3$I, null, %5$s, %7$s from became'),
        ('update', 'old table as was new table as became', 'became',
          'case when was.%3$I is null then ''%1$s.created'' when became.%3$I is null then ''%1$s.%2$s''
            else ''%1$s.updated'' end, coalesce(became.%3$I, was.%3$I), %8$s, coalesce(%5$s, %4$s), %9$s
          from was full join became on became.%3$I operator(pg_catalog.=) was.%3$I
          where (was operator(pg_catalog.*<>) became) is not false'),
        ('delete', 'old table as was', 'was', '''%1$s.%2$s'', was.%3$I, null, %4$s, %6$s from was')
      ) as changes (event, transition, changed, selection)
    loop
      selection := format(change.selection, noun, deleted, id,
        coalesce('was.' || half, 'null'), coalesce('became.' || half, 'null'),
        coalesce(format(body, 'was'), 'null'), coalesce(format(body, 'became'), 'null'),
        case when half is null then 'null'
          else format('case when was.%1$s operator(pg_catalog.<>) became.%1$s then was.%1$s end', half) end,
        coalesce('coalesce(' || format(body, 'became') || ', ' || format(body, 'was') || ')', 'null'));
      execute format(
        'create function %1$s.petstore_%2$s_%3$s_events() returns trigger language plpgsql security definer as $body$
        begin
          if pg_catalog.current_setting(''petstore.events'', true) operator(pg_catalog.=) ''off'' then
            if exists (select from %4$s) then perform %1$s.petstore_event_resync(); end if;
          %7$s
          else %5$s pg_catalog.current_setting(''petstore.request'', true), %6$s; end if;
          return null;
        end $body$', home, noun, change.event, change.changed, into_outbox, selection,
        case when change.event = 'insert' then format(
          'elsif pg_catalog.strpos(pg_catalog.current_setting(''petstore.request'', true), '','') operator(pg_catalog.>) 0 then
            declare petstore_requests text[] :=
              pg_catalog.string_to_array(pg_catalog.current_setting(''petstore.request'', true), '','');
            begin
              %s case when pg_catalog.count(*) over () operator(pg_catalog.=) pg_catalog.cardinality(petstore_requests)
                then petstore_requests[pg_catalog.row_number() over (order by became.%I)] end, %s;
            end;', into_outbox, id, selection) end);
      execute format('create trigger events_%1$s after %1$s on %2$s referencing %3$s for each statement
        execute function %4$s.petstore_%5$s_%1$s_events()', change.event, source, change.transition, home, noun);
    end loop;
    execute format('create trigger events_truncate after truncate on %s
      for each statement execute function %s.petstore_event_truncation()', source, home);
  end $record$;
  create function petstore_forget_events(source regclass, noun text) returns void language plpgsql as $forget$
  declare event text;
  begin
    foreach event in array '{insert,update,delete,truncate}'::text[]
      loop execute format('drop trigger events_%s on %s', event, source); end loop;
    foreach event in array '{insert,update,delete}'::text[] loop
      execute format('drop function %I.%I()', current_schema(), format('petstore_%s_%s_events', noun, event)); end loop;
  end $forget$`;
