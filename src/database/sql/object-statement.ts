import { FixedStatement } from '../../postgres/statement.ts';

/**
 * A query whose rows are objects of its columns, by their names: for what is read rarely. An int64 must be selected as
 * text, which is exact. What is read is a copy: it keeps nothing else alive (`row-parser.ts`).
 */
export function objectStatement<Row>(text: string): FixedStatement<Row> {
  return new FixedStatement(
    `select row_to_json(found)::text from (${text}) as found`,
    ([json]) => JSON.parse(json as string) as Row,
  );
}
