import type { Id } from '../../domain/id.ts';
import type { Include, WriteStore } from '../../domain/store.ts';
import type { Parameter } from '../prepared-statement.ts';
import type { EntityTable } from './entity-table.ts';
import { selectionOf, type Relation } from './selection.ts';
import type { Session } from './session.ts';
import { FixedStatement, Statement, type Bind } from './statement.ts';

type Values = Readonly<Record<string, unknown>>;

/** A row of another table that is inserted together with a row. */
export interface Companion<Value = unknown> {
  readonly table: EntityTable<never>;
  /** Its property that names the row. */
  readonly owner: string;
  readonly values: Readonly<Record<string, Value>>;
}

/** Writes the rows of one kind: each method is one statement, which returns the row as it is then, with its related rows. */
export class TableWrites<
  Row extends object,
  Data extends object,
  RelationName extends string = never,
> implements WriteStore<Row, Data, RelationName> {
  readonly #table: EntityTable<never>;
  readonly #relations: Readonly<Record<RelationName, Relation>>;
  readonly #session: Session;
  readonly #inserts = new Map<string, FixedStatement<Row>>();
  readonly #lock: FixedStatement<Row>;
  readonly #delete: FixedStatement<true>;

  constructor(table: EntityTable<never>, relations: Readonly<Record<RelationName, Relation>>, session: Session) {
    this.#table = table;
    this.#relations = relations;
    this.#session = session;
    const isRow = keyIs(table, '$1');
    const { columns, decode } = selectionOf<Row>(table, {}, []);
    this.#lock = new FixedStatement(`select ${columns} from ${table.name} where ${isRow} for update`, decode, 'write');
    this.#delete = new FixedStatement(`delete from ${table.name} where ${isRow} returning 1`, () => true, 'write');
  }

  async insert(data: Data, include: Include<RelationName> = [], companions: readonly Companion[] = []): Promise<Row> {
    const groups = [{ table: this.#table, values: data as Values }, ...companions];
    const key = `${groups.map(({ values }) => Object.keys(values).join()).join('+')} ${include.join()}`;
    let statement = this.#inserts.get(key);
    if (statement === undefined) {
      statement = this.#insertion(data as Values, include, companions);
      this.#inserts.set(key, statement);
    }
    const values = groups.flatMap((group) => parametersOf(group.table, group.values));
    const [row] = await this.#session.run(statement.with(values));
    if (row === undefined) throw new Error(`Nothing was inserted into ${this.#table.name}.`);
    return row;
  }

  async update(id: Id, changes: Partial<Data>, include: Include<RelationName> = []): Promise<Row | undefined> {
    const table = this.#table;
    const statement = new Statement();
    const { bind } = statement;
    const assignments = Object.entries(changes).map(
      ([property, value]) =>
        `${table.columnName(property)} = ${bind(table.parameter(property, value), table.columnType(property))}`,
    );
    const write = `update ${table.name} set ${assignments.join(', ')} where ${keyIs(table, bind(id, 'bigint'))}`;
    const { text, decode } = this.#returning(write, include);
    const [row] = await this.#session.run(statement.planned(text, decode));
    return row;
  }

  async lock(id: Id): Promise<Row | undefined> {
    const [row] = await this.#session.run(this.#lock.with([id]));
    return row;
  }

  async delete(id: Id): Promise<boolean> {
    const deleted = await this.#session.run(this.#delete.with([id]));
    return deleted.length > 0;
  }

  #insertion(data: Values, include: readonly string[], companions: readonly Companion[]): FixedStatement<Row> {
    const { bind } = new Statement();
    const row = placeholdersFor(this.#table, data, bind);
    const others = companions.map((each) => ({ ...each, values: placeholdersFor(each.table, each.values, bind) }));
    const { write, companionWrites } = insertionOf(this.#table, row, others);
    const { text, decode } = this.#returning(write, include, companionWrites);
    return new FixedStatement(text, decode, 'write');
  }

  /**
   * The statement that writes, and returns the written row. With related rows, or other writes, it becomes a common table
   * expression under the name of its table, so that the same columns and joins as elsewhere find the written row there.
   */
  #returning(write: string, include: readonly string[], others: readonly string[] = []) {
    const { name } = this.#table;
    const { columns, joins, decode } = selectionOf<Row>(this.#table, this.#relations, include);
    if (include.length === 0 && others.length === 0) return { text: `${write} returning ${columns}`, decode };
    const writes = [`${name} as (${write} returning *)`, ...others];
    return { text: `with ${writes.join(', ')} select ${columns} from ${name} ${joins}`, decode };
  }
}

/** SQL expressions by property. */
type Expressions = Readonly<Record<string, string>>;

/**
 * The parts of a statement that inserts rows, each with its companions: the insertion, and a common table expression for each companion,
 * which expects the inserted rows under the name of their table. `from` gives the rows; without it there is one.
 */
export function insertionOf(
  table: EntityTable<never>,
  row: Expressions,
  companions: readonly Companion<string>[],
  from = '',
): { readonly write: string; readonly companionWrites: readonly string[] } {
  const companionWrites = companions.map((companion) => {
    const owned = { [companion.owner]: table.column(table.keyProperty), ...companion.values };
    return `${companion.table.name} as (${insertInto(companion.table, owned, `from ${table.name}`)} returning *)`;
  });
  return { write: insertInto(table, row, from), companionWrites };
}

function insertInto(table: EntityTable<never>, row: Expressions, from: string): string {
  const columns = Object.keys(row).map((property) => table.columnName(property as never));
  return `insert into ${table.name} (${columns.join(', ')}) select ${Object.values(row).join(', ')} ${from}`;
}

function keyIs(table: EntityTable<never>, place: string): string {
  return `${table.column(table.keyProperty)} = ${place}::${table.columnType(table.keyProperty)}`;
}

function placeholdersFor(table: EntityTable<never>, values: Values, bind: Bind): Expressions {
  const properties = Object.keys(values);
  return Object.fromEntries(properties.map((property) => [property, bind(null, table.columnType(property as never))]));
}

function parametersOf(table: EntityTable<never>, values: Values): Parameter[] {
  return Object.entries(values).map(([property, value]) => table.parameter(property as never, value));
}
