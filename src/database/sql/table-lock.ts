import { commandOf, type Query } from '../../platform/postgres/index.ts';

/** Waits for who has locked these tables whole, so that a statement after it waits for nobody. */
export function lockOf(from: string): Query<unknown> {
  return { statement: commandOf(`select from ${from} limit 0`, { kind: 'slow' }), values: [] };
}
