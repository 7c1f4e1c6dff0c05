import type { Id } from '../../domain/id.ts';
import type { LockStrength } from '../../domain/store.ts';
import { type Query, type Statement, statementOf } from '../../platform/postgres/index.ts';
import type { EntityTable } from './entity-table.ts';

/** `for update` would make two that name a row, and then change it, a deadlock. */
const clauses: Readonly<Record<LockStrength, string>> = {
  refer: 'for key share',
  change: 'for no key update',
  delete: 'for update',
  deleteNow: 'for update nowait',
};

/** The statements that lock rows of a table until the transaction ends. */
export class RowLocks {
  readonly #statements: Readonly<Record<LockStrength, Statement<undefined>>>;

  constructor(table: EntityTable) {
    const { refer, change, delete: deletion, deleteNow } = clauses;
    this.#statements = {
      refer: lockStatement(table, refer),
      change: lockStatement(table, change),
      delete: lockStatement(table, deletion),
      deleteNow: lockStatement(table, deleteNow),
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
  return statementOf(`${rows} = $1::bigint ${clause}`, 1, noRow, 'write', {
    many: statementOf(many, 1, noRow, 'write'),
  });
}

function noRow(): undefined {
  return undefined;
}
