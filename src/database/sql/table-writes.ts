import type { Id } from '../../domain/id.ts';
import type { Include, LockStrength } from '../../domain/store.ts';
import {
  type Parameter,
  type Query,
  type Session,
  type Statement,
  statementOf,
  unprepared,
  UnreadableRow,
} from '../../platform/postgres/index.ts';
import { domainFailureOf } from '../domain-failure.ts';
import { requestOf, setsRequest } from './change-request.ts';
import type { EntityTable } from './entity-table.ts';
import { insertionOfOne, returning, type Companion, type Values } from './insertion.ts';
import { RowLocks } from './row-locks.ts';
import { selectionOf, type Relation } from './selection.ts';

/** Each method is one statement, which returns the row as it is then, with its related rows. */
export class TableWrites<Row extends object, Data extends object, RelationName extends string = never> {
  readonly #table: EntityTable;
  readonly #relations: Readonly<Record<RelationName, Relation>>;
  readonly #inserts = new Map<string, Statement<Row | UnreadableRow>>();
  /** By the properties that change, and the related rows. */
  readonly #updates = new Map<string, Statement<Row>>();
  readonly #lock: Statement<Row>;
  readonly #delete: Statement<true>;
  readonly #locks: RowLocks;
  /** The tables whose rows a row names, by its properties. */
  readonly #references: readonly { readonly name: string; readonly property: string; readonly locks: RowLocks }[];

  constructor(table: EntityTable, relations: Readonly<Record<RelationName, Relation>>) {
    this.#table = table;
    this.#relations = relations;
    const isRow = keyIs(table, '$1');
    const { columns, columnCount, decode } = selectionOf<Row>(table, {}, []);
    const deletion = `delete from ${table.name} where ${isRow} and ${setsRequest('$2')} returning 1`;
    const lock = `select ${columns} from ${table.name} where ${isRow} for no key update`;
    // As `RowLocks` has it.
    this.#lock = statementOf(lock, columnCount, decode, 'write');
    this.#delete = statementOf(deletion, 1, () => true, 'write');
    this.#locks = new RowLocks(table);
    this.#references = Object.entries<Relation>(relations).flatMap(([name, { property, table: other }]) =>
      property === undefined ? [] : [{ name, property, locks: new RowLocks(other) }],
    );
  }

  async lock(session: Session, id: Id): Promise<Row | undefined> {
    return (await session.run(this.#lock, [id]))[0];
  }

  lockAll(session: Session, ids: readonly Id[], strength: LockStrength): Promise<void> {
    const { statement, values } = this.#locks.many(ids, strength);
    return session.defer(statement, values);
  }

  async delete(session: Session, id: Id): Promise<boolean> {
    return (await session.run(this.#delete, [id, requestOf(session)])).length > 0;
  }

  async insert(
    session: Session,
    data: Data,
    include: Include<RelationName> = [],
    companions: readonly Companion[] = [],
  ): Promise<Row> {
    let key = include.join();
    const parameters: Parameter[] = [];
    for (const { table, values } of [{ table: this.#table, values: data as Values }, ...companions]) {
      key += ' ';
      for (const property of Object.keys(values)) {
        key += `${property},`;
        parameters.push(table.parameter(property, values[property]));
      }
    }
    parameters.push(requestOf(session));
    let insert = this.#inserts.get(key);
    if (insert === undefined) {
      const [table, relations] = [this.#table, this.#relations];
      insert = insertionOfOne({ table, relations, values: data as Values, include, companions });
      this.#inserts.set(key, insert);
    }
    const isReferenceShown = this.#references.some(({ name }) => (include as readonly string[]).includes(name));
    const [row] = await session.run(insert, parameters, isReferenceShown ? this.#referenceLocks(data as Values) : []);
    if (row === undefined) throw new Error(`Nothing was inserted into ${this.#table.name}.`);
    if (row instanceof UnreadableRow) throw domainFailureOf(row);
    return row;
  }

  async update(
    session: Session,
    id: Id,
    changes: Partial<Data>,
    include: Include<RelationName> = [],
    { isLocked = false }: { readonly isLocked?: boolean } = {},
  ): Promise<Row | undefined> {
    const update = this.#updateFor(Object.keys(changes), include);
    const values = Object.entries(changes).map(([name, value]) => this.#table.parameter(name, value));
    const showsOthers = include.length > 0 || this.#table.isComputed;
    const locks = showsOthers ? this.#referenceLocks(changes) : [];
    if (showsOthers && !isLocked) locks.push(this.#locks.one(id, 'change'));
    const write = () => session.run(update, [...values, id, requestOf(session)], locks);
    const [row] = await write();
    if (row !== undefined) return row;
    // There is none, or it can't be read, which throws; or it could have been written since.
    return (await this.lock(session, id)) && (await write())[0];
  }

  /** Locks for the rows that the foreign keys would wait for. */
  #referenceLocks(values: Values): Query<undefined>[] {
    return this.#references.flatMap(({ property, locks }) => {
      const id = values[property];
      return typeof id === 'string' ? [locks.one(id as Id, 'refer')] : [];
    });
  }

  #updateFor(properties: readonly string[], include: Include<RelationName>): Statement<Row> {
    const key = `${properties.join()} ${include.join()}`;
    const known = this.#updates.get(key);
    if (known !== undefined) return known;
    const statement = this.#updateOf(properties, include);
    if (this.#updates.size >= maxPreparedUpdates) return unprepared(statement);
    this.#updates.set(key, statement);
    return statement;
  }

  #updateOf(properties: readonly string[], include: Include<RelationName>): Statement<Row> {
    const table = this.#table;
    const assignments = properties.map(
      (property, index) => `${table.columnName(property)} = $${index + 1}::${table.columnType(property)}`,
    );
    const parameter = (index: number): string => `$${properties.length + index}`;
    const conditions = [keyIs(table, parameter(1)), ...table.areReadable(properties), setsRequest(parameter(2))];
    const write = `update ${table.name} set ${assignments.join(', ')} where ${conditions.join(' and ')}`;
    const selection = selectionOf<Row>(table, this.#relations, include);
    return statementOf(returning(table, selection, write), selection.columnCount, selection.decode, 'write');
  }
}

/** More than what clients change together; what is beyond (of a key's many properties) is planned each time. */
const maxPreparedUpdates = 64;

function keyIs(table: EntityTable, placeholder: string): string {
  return `${table.column(table.keyProperty)} = ${placeholder}::${table.columnType(table.keyProperty)}`;
}
