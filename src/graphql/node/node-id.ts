import { quoted, validationFailed, type Violation } from '../../domain/errors.ts';
import { parseId, type Id } from '../../domain/id.ts';
import { nounNames, nouns, type NodeTypeName, type NounName, type RowOf } from '../../domain/nouns.ts';
import { decodeOpaque, encodeOpaque } from '../../domain/opaque-text.ts';
import type { Loaders } from '../loaders.ts';

/** The types that implement `Node`, with the noun of each. */
const nounOf = new Map<string, NounName>(nounNames.map((noun) => [nouns[noun].typeName, noun]));

interface NodeKey {
  readonly noun: NounName;
  /** The id of the row; for an `InventoryItem`, that of its pet. */
  readonly id: Id;
}

const maxNodeIds = 100;

/** The global id of a node: opaque, stable, and different for each type. */
export function encodeNodeId(type: NodeTypeName, id: Id): string {
  return encodeOpaque([type, id]);
}

/** Decodes a global id; throws VALIDATION_FAILED when it isn't valid. */
export function decodeNodeId(nodeId: string): NodeKey {
  const key = parse(nodeId);
  if (key === undefined) throw validationFailed([{ field: 'nodeId', message: problemOf(nodeId) }]);
  return key;
}

/** The same for several; throws VALIDATION_FAILED that names each invalid one, or when there are too many. */
export function decodeNodeIds(
  nodeIds: readonly string[],
  { field = 'nodeIds', max = maxNodeIds }: { readonly field?: string; readonly max?: number } = {},
): readonly NodeKey[] {
  if (nodeIds.length > max) {
    throw validationFailed([{ field, message: `must have at most ${max} items, not ${nodeIds.length}.` }]);
  }
  const violations: Violation[] = [];
  const keys = nodeIds.flatMap((nodeId, index) => {
    const key = parse(nodeId);
    if (key === undefined) violations.push({ field: `${field}.${index}`, message: problemOf(nodeId) });
    return key ?? [];
  });
  if (violations.length > 0) throw validationFailed(violations);
  return keys;
}

/** Loads the row of a node: for equal ids the same object, of which all is computed once. */
export function loadNode(loaders: Loaders, { noun, id }: NodeKey): Promise<RowOf<NounName> | null> {
  return loaders.byId(noun).load(id);
}

function parse(nodeId: string): NodeKey | undefined {
  const parts = decodeOpaque(nodeId);
  if (parts?.length !== 2) return undefined;
  const [type, id] = parts;
  const noun = typeof type === 'string' ? nounOf.get(type) : undefined;
  const parsedId = typeof id === 'string' ? parseId(id) : undefined;
  return noun && parsedId && { noun, id: parsedId };
}

function problemOf(nodeId: string): string {
  return `${quoted(nodeId)} is not a nodeId of this service: use one that a node has given you.`;
}
