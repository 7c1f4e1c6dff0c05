import type { Id } from '../../domain/id.ts';
import type { Include, WriteStore } from '../../domain/store.ts';
import type { Parameter } from '../parameter.ts';
import type { EntityTable } from './entity-table.ts';
import { createInsert, returning, type Companion, type Insert, type Values } from './insertion.ts';
import { selectionOf, type Relation } from './selection.ts';
import type { Session } from './session.ts';
import { FixedStatement, Statement } from './statement.ts';

/** Writes the rows of one kind: each method is one statement, which returns the row as it is then, with its related rows. */
export class TableWrites<
  Row extends object,
  Data extends object,
  RelationName extends string = never,
> implements WriteStore<Row, Data, RelationName> {
  readonly #table: EntityTable<never>;
  readonly #relations: Readonly<Record<RelationName, Relation>>;
  readonly #session: Session;
  readonly #inserts = new Map<string, Insert<Row>>();
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
    let insert = this.#inserts.get(key);
    if (insert === undefined) {
      const [table, relations] = [this.#table, this.#relations];
      insert = createInsert(this.#session, { table, relations, values: data as Values, include, companions });
      this.#inserts.set(key, insert);
    }
    const row = await insert(groups.flatMap((group) => parametersOf(group.table, group.values)));
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
    const selection = selectionOf<Row>(table, this.#relations, include);
    const [row] = await this.#session.run(statement.planned(returning(table, selection, write), selection.decode));
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
}

function keyIs(table: EntityTable<never>, place: string): string {
  return `${table.column(table.keyProperty)} = ${place}::${table.columnType(table.keyProperty)}`;
}

function parametersOf(table: EntityTable<never>, values: Values): Parameter[] {
  return Object.entries(values).map(([property, value]) => table.parameter(property as never, value));
}
