import { getNamedType, type GraphQLNamedType, isInterfaceType, isObjectType } from 'graphql';

export function typeOfField(parent: GraphQLNamedType | undefined, name: string): GraphQLNamedType | undefined {
  if (!isObjectType(parent) && !isInterfaceType(parent)) return undefined;
  return getNamedType(parent.getFields()[name]?.type);
}

/** Recognised by its shape, as in the Relay specification; so is an edge. */
export function isConnection(type: GraphQLNamedType | undefined): boolean {
  return hasFields(type, 'edges', 'pageInfo');
}

export function isEdge(type: GraphQLNamedType | undefined): boolean {
  return hasFields(type, 'node', 'cursor');
}

function hasFields(type: GraphQLNamedType | undefined, ...names: readonly string[]): boolean {
  if (!isObjectType(type)) return false;
  const fields = type.getFields();
  return names.every((name) => fields[name] !== undefined);
}

/** The arguments that set the size of a result. */
export const sizingArguments: ReadonlySet<string> = new Set(['first', 'last', 'if', 'nodeIds']);

/** A number, a boolean, or the length of a list; other values don't matter here. */
export type SizingValue = number | boolean | undefined;

export function sizingValueOf(value: unknown): SizingValue {
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.length;
  return typeof value === 'string' ? 1 : undefined;
}

/** A list in an operation, which multiplies what its entries select. */
export interface CountedList {
  /** Its response key, and those of the objects that it is in: `pets`, `category.pets`. */
  readonly path: string;
  readonly entries: number;
  /** What it counts, with all that is in it, for one parent. */
  readonly complexity: number;
  /** The list that counts most in each of its entries. */
  readonly within: CountedList | undefined;
}

export function heavier(one: CountedList | undefined, other: CountedList | undefined): CountedList | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return other.complexity > one.complexity ? other : one;
}

/** The list that counts most in a field: the field itself, unless it can't be made shorter. */
export function listWith(
  key: string,
  entries: number,
  complexity: number,
  within: CountedList | undefined,
): CountedList | undefined {
  if (entries > 1) return { path: key, entries, complexity, within };
  if (entries === 0 || within === undefined) return undefined;
  return { ...within, path: `${key}.${within.path}` };
}

/** How to make an operation less complex, in the words of its author. */
export function adviceFor(list: CountedList | undefined): string {
  if (list === undefined) return 'Select fewer objects.';
  const { path, entries, complexity, within } = list;
  const inner = within === undefined ? '' : `, with ${within.entries} of ${within.path} in each`;
  return `Make a list shorter: ${path} counts ${complexity} with ${entries} entries${inner}.`;
}
