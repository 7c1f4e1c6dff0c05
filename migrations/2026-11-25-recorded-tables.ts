import { Migration } from '@mikro-orm/migrations';

/**
 * What the migration of a further noun calls, so that its changes are events: `petstore_record_events(table, noun)`
 * makes the triggers, `petstore_forget_events(table, noun)` takes them away. They are as those of categories: each
 * change of a row is an event with the row as its body, and a change that changes nothing is none.
 *
 * Nothing changes for the tables that have triggers already.
 */
export class RecordedTablesMigration extends Migration {
  override up(): void {
    for (const text of [recordEvents, forgetEvents]) this.addSql(text);
    this.addSql(
      'revoke execute on function petstore_record_events(regclass, text, name, text), petstore_forget_events(regclass, text) from public',
    );
  }

  override down(): void {
    this.addSql(
      'drop function petstore_record_events(regclass, text, name, text), petstore_forget_events(regclass, text)',
    );
  }
}

/**
 * The functions of the triggers run with the rights of their owner and qualify every name and operator, as those of the
 * other tables: the caller's search path decides nothing.
 */
const recordEvents = `create function petstore_record_events(
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
  $record$`;

const forgetEvents = `create function petstore_forget_events(source regclass, noun text) returns void language plpgsql as $forget$
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
  $forget$`;
