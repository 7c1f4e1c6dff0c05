import { Kind, visit, type DocumentNode } from 'graphql';

/** The arguments that set the size of a result. */
const sizingArguments: ReadonlySet<string> = new Set(['first', 'last', 'if', 'nodeIds']);

/** A number, a boolean, or the length of a list; other values don't matter here. */
export type SizingValue = number | boolean | undefined;

export function sizeOf(value: unknown): SizingValue {
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.length;
  return typeof value === 'string' ? 1 : undefined;
}

export function sizingVariables(document: DocumentNode): ReadonlySet<string> {
  const names = new Set<string>();
  visit(document, {
    Argument: ({ name, value }) => {
      if (value.kind === Kind.VARIABLE && sizingArguments.has(name.value)) names.add(value.name.value);
    },
  });
  return names;
}
