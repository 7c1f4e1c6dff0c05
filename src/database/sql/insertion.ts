import { commonRequest, setsRequest, setsRequestOnce } from './change-request.ts';
import type { EntityTable } from './entity-table.ts';
import { selectionOf, type Relation, type Selection } from './selection.ts';
import { readAlone, type Statement, statementOf, type UnreadableRow } from '../../platform/postgres/index.ts';
import { columnTypeOf } from './value-types.ts';

export type Values = Readonly<Record<string, unknown>>;

/** A row of another table that is inserted together with a row. */
export interface Companion<Value = unknown> {
  readonly table: EntityTable;
  /** Its property that names the row. */
  readonly owner: string;
  readonly values: Readonly<Record<string, Value>>;
}

/** SQL expressions by property. */
type Expressions = Readonly<Record<string, string>>;

/** The structure of a row. Its parameters are its values, then those of its companions. */
export interface InsertedRow {
  readonly table: EntityTable;
  readonly relations: Readonly<Record<string, Relation>>;
  readonly values: Values;
  readonly include: readonly string[];
  readonly companions: readonly Companion[];
}

/** Has a form for many, unless the row has a list. Its last parameter is the request (`change-request.ts`). */
export function insertionOfOne<Row>(inserted: InsertedRow): Statement<Row | UnreadableRow> {
  const types = typesOf(inserted);
  const hasList = types.some((type) => columnTypeOf(type).isNested === true);
  const placeholders = types.map((type, index) => `$${index + 1}::${type}`);
  const { row, companions } = withExpressions(inserted, placeholders);
  const rows = `where ${setsRequest(`$${types.length + 1}`)}`;
  const { write, companionWrites } = insertionOf(inserted.table, row, companions, { rows });
  const selection = selectionOf<Row>(inserted.table, inserted.relations, inserted.include);
  const text = returning(inserted.table, selection, write, companionWrites);
  const many = hasList ? undefined : insertionOfMany<Row>(inserted);
  return statementOf(text, selection.columnCount, readAlone(selection.decode), 'write', { many });
}

/**
 * Its parameters are the same as for one row, each as a list but the request. It returns the rows in the order of the
 * lists, which is that of their new ids. It fails, by a division by zero, when a trigger has left out a row: once all
 * are committed, nobody could say which.
 */
function insertionOfMany<Row>(inserted: InsertedRow): Statement<Row | UnreadableRow> {
  const { table } = inserted;
  const types = typesOf(inserted);
  const names = types.map((_, index) => `value${index}`);
  const lists = types.map((type, index) => `$${index + 1}::${type}[]`);
  const input = `input as (select * from unnest(${lists.join(', ')}) with ordinality as input (${[...names, 'index'].join(', ')}))`;
  const { row, companions } = withExpressions(
    inserted,
    names.map((name) => `input.${name}`),
  );
  const id = table.column(table.keyProperty);
  const { write, companionWrites } = insertionOf(table, row, companions, {
    rows: `from input where ${setsRequestOnce(`$${types.length + 1}`)} order by input.index`,
    owners: `from (select *, row_number() over (order by ${id}) as index from ${table.name}) as ${table.name} join input using (index)`,
  });
  const selection = selectionOf<Row>(table, inserted.relations, inserted.include);
  const text = returning(table, selection, write, companionWrites, [input]);
  const areAll = `1 / ((select count(*) from ${table.name}) = (select count(*) from input))::int = 1`;
  const ordered = `${text} where ${areAll} order by ${id}`;
  return statementOf(ordered, selection.columnCount, readAlone(selection.decode), 'write', { common: commonRequest });
}

/** With related rows the write is a common table expression named as its table, where the joins find the row. */
export function returning(
  { name }: EntityTable,
  { columns, joins }: Selection<unknown>,
  write: string,
  after: readonly string[] = [],
  before: readonly string[] = [],
): string {
  if (joins === '' && after.length === 0 && before.length === 0) return `${write} returning ${columns}`;
  const writes = [...before, `${name} as (${write} returning *)`, ...after];
  return `with ${writes.join(', ')} select ${columns} from ${name} ${joins}`;
}

/** Each companion is a common table expression, which expects the inserted rows under their table's name. */
export function insertionOf(
  table: EntityTable,
  row: Expressions,
  companions: readonly Companion<string>[],
  { rows = '', owners = `from ${table.name}` }: { readonly rows?: string; readonly owners?: string } = {},
): { readonly write: string; readonly companionWrites: readonly string[] } {
  const companionWrites = companions.map((companion) => {
    const owned = { [companion.owner]: table.column(table.keyProperty), ...companion.values };
    return `${companion.table.name} as (${insertInto(companion.table, owned, owners)} returning *)`;
  });
  return { write: insertInto(table, row, rows), companionWrites };
}

function insertInto(table: EntityTable, row: Expressions, from: string): string {
  const columns = Object.keys(row).map((property) => table.columnName(property));
  return `insert into ${table.name} (${columns.join(', ')}) select ${Object.values(row).join(', ')} ${from}`;
}

/** The SQL types of the parameters. */
function typesOf({ table, values, companions }: InsertedRow): string[] {
  return [{ table, values }, ...companions].flatMap((each) =>
    Object.keys(each.values).map((property) => each.table.columnType(property)),
  );
}

function withExpressions({ values, companions }: InsertedRow, expressions: readonly string[]) {
  const next = expressions.values();
  const byProperty = (written: Values): Expressions =>
    Object.fromEntries(Object.keys(written).map((property) => [property, next.next().value as string]));
  return {
    row: byProperty(values),
    companions: companions.map((each) => ({ ...each, values: byProperty(each.values) })),
  };
}
