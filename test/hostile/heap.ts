import { readFileSync } from 'node:fs';

interface Snapshot {
  readonly snapshot: { readonly meta: { readonly node_fields: string[]; readonly node_types: [string[]] } };
  readonly nodes: number[];
  readonly strings: string[];
}

/** What a heap snapshot of V8 says of its objects. */
export interface Heap {
  /** How many bytes all objects have. */
  readonly bytes: number;
  /** How many objects there are of a class. */
  readonly count: (className: string) => number;
  /** The strings in it, each shortened by V8. */
  readonly strings: readonly string[];
}

export function readHeap(path: string): Heap {
  const { snapshot, nodes, strings } = JSON.parse(readFileSync(path, 'utf8')) as Snapshot;
  const { node_fields: fields, node_types: types } = snapshot.meta;
  const [type, name, size] = ['type', 'name', 'self_size'].map((field) => fields.indexOf(field)) as [
    number,
    number,
    number,
  ];
  const object = types[0].indexOf('object');
  const counts = new Map<string, number>();
  let bytes = 0;
  for (let at = 0; at < nodes.length; at += fields.length) {
    bytes += nodes[at + size]!;
    if (nodes[at + type] !== object) continue;
    const className = strings[nodes[at + name]!]!;
    counts.set(className, (counts.get(className) ?? 0) + 1);
  }
  return { bytes, count: (className) => counts.get(className) ?? 0, strings };
}
