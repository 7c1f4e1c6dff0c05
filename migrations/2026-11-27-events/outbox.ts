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
