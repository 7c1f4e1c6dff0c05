import type { Id } from '../../domain/id.ts';
import type { LockStrength } from '../../domain/store.ts';
import { commandOf, type Query, type Statement } from '../../platform/postgres/index.ts';
import type { EntityTable } from './entity-table.ts';

/** The statements that lock rows of a table until the transaction ends. */
export class RowLocks {
  readonly #statements: Readonly<Record<LockStrength, Statement<undefined>>>;

  constructor(table: EntityTable) {
    this.#statements = {
      refer: lockStatement(table, 'for key share'),
      // `for update` would make two that name a row, and then change it, a deadlock.
      change: lockStatement(table, 'for no key update'),
      delete: lockStatement(table, 'for update'),
      deleteNow: lockStatement(table, 'for update nowait'),
    };
  }

  one(id: Id, strength: LockStrength): Query<undefined> {
    return { statement: this.#statements[strength], values: [id] };
  }

  /** Locks them in the order of their ids. */
  many(ids: readonly Id[], strength: LockStrength): Query<undefined> {
    return { statement: this.#statements[strength].many as Statement<undefined>, values: [ids] };
  }
}

function lockStatement(table: EntityTable, clause: string): Statement<undefined> {
  const id = table.column(table.keyProperty);
  const rows = `select 1 from ${table.name} where ${id}`;
  // A row for each id, as every form for many has it.
  const many = `with locked as materialized (${rows} = any($1::bigint[]) order by ${id} ${clause})
    select (select count(*) from locked) from unnest($1::bigint[])`;
  return commandOf(`${rows} = $1::bigint ${clause}`, { columns: 1, many: commandOf(many, { columns: 1 }) });
}
