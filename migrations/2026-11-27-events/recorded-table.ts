import { inThisSchema } from './schema.ts';

/** A table each change of which is an event: `<noun>.created`, `<noun>.updated` or `<noun>.<deleted>`. */
interface RecordedTable {
  readonly table: string;
  readonly noun: string;
  /** The column with the id of the object. */
  readonly id?: string;
  readonly deleted?: string;
  /** The column that is half of an inventory entry's state, whose other half is in another table. */
  readonly half?: string;
  /** Without, that half is all that there is to say of a row. */
  readonly hasBody?: boolean;
}

interface RecordedChange {
  /** Of the triggers: names the transition tables, `was` and `became`. */
  readonly referencing: string;
  /** The transition table that has a row for each change. */
  readonly rows: 'was' | 'became';
  /** Type, object's id, half before and after, body. */
  readonly events: string;
}

const request = `pg_catalog.current_setting('petstore.request', true)`;

/**
 * The scripts that make the triggers of a table, each of a statement of its own: one that a lock keeps waiting is named.
 * A change of the id itself is a deletion and a creation, and one that changes nothing is no event.
 *
 * The functions run with their owner's rights, so that the service needs none on the outbox. Names, types and operators
 * are qualified, so that the caller's search path decides nothing: `set search_path` costs as much as all the rest. The
 * request is read for each row: a variable of the function, or a query within it, costs more until there are ten.
 */
export function recordEvents(recorded: RecordedTable): string[] {
  const { table, noun } = recorded;
  const changes = Object.entries(changesOf(recorded)).flatMap(([change, { referencing, rows, events }]) => {
    const insertion = 'insert into @schema.event_outbox (request, type, object_id, before, after, body)';
    const made = `
      create function @schema.petstore_${noun}_${change}_events() returns trigger language plpgsql security definer as $$
      begin
        if pg_catalog.current_setting('petstore.events', true) operator(pg_catalog.=) 'off' then
          if exists (select from ${rows}) then perform @schema.petstore_event_resync(); end if;
        ${change === 'insert' ? severalRequests(recorded, `${insertion} select`, events) : ''}
        else
          ${insertion} select ${request}, ${events};
        end if;
        return null;
      end $$`;
    const trigger = `create trigger events_${change} after ${change} on ${table} referencing ${referencing}
      for each statement execute function petstore_${noun}_${change}_events()`;
    return [inThisSchema(made), trigger];
  });
  const truncation = `create trigger events_truncate after truncate on ${table}
    for each statement execute function petstore_event_truncation()`;
  return [...changes, truncation];
}

/** The script that takes them away. */
export function forgetEvents({ table, noun }: RecordedTable): string {
  const names = ['insert', 'update', 'delete'];
  return inThisSchema(`
    ${[...names, 'truncate'].map((change) => `drop trigger events_${change} on ${table};`).join(' ')}
    drop function ${names.map((change) => `@schema.petstore_${noun}_${change}_events`).join(', ')}`);
}

function changesOf(recorded: RecordedTable): Readonly<Record<'insert' | 'update' | 'delete', RecordedChange>> {
  const { noun, id = 'id', deleted = 'deleted', half, hasBody = true } = recorded;
  const halfOf = (row: string): string => (half === undefined ? 'null' : `${row}.${half}`);
  const bodyOf = (row: string): string => (hasBody ? `pg_catalog.row_to_json(${row})` : 'null::pg_catalog.json');
  const changedHalf = `case when ${halfOf('was')} operator(pg_catalog.<>) ${halfOf('became')} then ${halfOf('was')} end`;
  return {
    insert: {
      referencing: 'new table as became',
      rows: 'became',
      events: `'${noun}.created', became.${id}, null, ${halfOf('became')}, ${bodyOf('became')} from became`,
    },
    update: {
      referencing: 'old table as was new table as became',
      rows: 'became',
      events: `
        case when was.${id} is null then '${noun}.created' when became.${id} is null then '${noun}.${deleted}'
          else '${noun}.updated' end,
        coalesce(became.${id}, was.${id}), ${half === undefined ? 'null' : changedHalf},
        coalesce(${halfOf('became')}, ${halfOf('was')}), coalesce(${bodyOf('became')}, ${bodyOf('was')})
        from was full join became on became.${id} operator(pg_catalog.=) was.${id}
        where (was operator(pg_catalog.*<>) became) is not false`,
    },
    delete: {
      referencing: 'old table as was',
      rows: 'was',
      events: `'${noun}.${deleted}', was.${id}, null, ${halfOf('was')}, ${bodyOf('was')} from was`,
    },
  };
}

/** Rows that several requests insert together have a request each, in the order of their ids. */
function severalRequests({ id = 'id' }: RecordedTable, insertion: string, events: string): string {
  return `elsif pg_catalog.strpos(${request}, ',') operator(pg_catalog.>) 0 then
          declare petstore_requests pg_catalog.text[] := pg_catalog.string_to_array(${request}, ',');
          begin
            ${insertion} case when pg_catalog.count(*) over () operator(pg_catalog.=) pg_catalog.cardinality(petstore_requests)
              then petstore_requests[pg_catalog.row_number() over (order by became.${id})] end, ${events};
          end;`;
}
