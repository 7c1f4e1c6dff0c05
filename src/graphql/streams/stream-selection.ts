import { hash } from 'node:crypto';

import { visit, type DocumentNode, type FieldNode } from 'graphql';

import type { StoreEvent } from '../../domain/events/event.ts';
import type { Id } from '../../domain/id.ts';
import { LruMap } from '../../domain/lru-map.ts';
import type { Measure } from '../pipeline/measure.ts';
import { executionResponse } from '../pipeline/response.ts';
import type { Variables } from '../executor/arguments.ts';
import type { PreparedOperation } from '../executor/operation.ts';

/** What is executed for each event. */
export interface StreamOperation {
  /** The text of its document with its name. */
  readonly key: string;
  readonly document: DocumentNode;
  readonly prepared: PreparedOperation;
  readonly measured: Measure;
  /** Coerced. */
  readonly variables: Variables;
  readonly maxBytes: number;
}

/** The texts of all selections hold so many characters, or twice as many. */
const maxCharacters = 2 ** 21;

/** The texts that streams send: one for each distinct selection and event, however many streams share it. */
export class StreamTexts {
  readonly #texts = new LruMap<string, string>(maxCharacters, (key, text) => key.length + text.length);
  readonly #selections = new Map<string, { readonly selection: StreamSelection; count: number }>();

  /** The selection of the operation, which streams with the same one share until each has released it. */
  acquire(operation: StreamOperation): StreamSelection {
    const key = selectionKey(operation);
    const shared = this.#selections.get(key) ?? {
      selection: new StreamSelection(key, operation, this.#texts),
      count: 0,
    };
    shared.count += 1;
    this.#selections.set(key, shared);
    return shared.selection;
  }

  release({ key }: StreamSelection): void {
    const shared = this.#selections.get(key);
    if (shared === undefined) return;
    shared.count -= 1;
    if (shared.count === 0) this.#selections.delete(key);
  }
}

export class StreamSelection {
  readonly key: string;
  readonly #operation: StreamOperation;
  readonly #texts: LruMap<string, string>;
  readonly #pending = new Map<Id, Promise<string>>();

  constructor(key: string, operation: StreamOperation, texts: LruMap<string, string>) {
    this.key = key;
    this.#operation = operation;
    this.#texts = texts;
  }

  /** The result for an event as JSON text. */
  textOf(event: StoreEvent): string | Promise<string> {
    const key = `${event.position} ${event.salt} ${this.key}`;
    const known = this.#texts.get(key) ?? this.#pending.get(event.position);
    if (known !== undefined) return known;
    const written = this.#write(event)
      .then((text) => {
        this.#texts.set(key, text);
        return text;
      })
      .finally(() => this.#pending.delete(event.position));
    this.#pending.set(event.position, written);
    return written;
  }

  async #write(event: StoreEvent): Promise<string> {
    const { prepared, variables, measured, maxBytes } = this.#operation;
    const execution = await prepared.runFor(event, variables, maxBytes);
    const { body } = executionResponse(execution, false, maxBytes, measured);
    return execution.pieces.wholeText(body).trimEnd();
  }
}

/** Two operations have the same texts when they differ in the arguments of the root field only: those select events. */
function selectionKey({ key, document, prepared, variables }: StreamOperation): string {
  const roots = new Set(prepared.rootFields(variables).flatMap(({ nodes }) => nodes));
  const names = variablesBelow(document, roots);
  const used = [...names].toSorted().map((name) => [name, variables[name]]);
  return hash('sha256', `${JSON.stringify(used)} ${key}`, 'base64url');
}

function variablesBelow(document: DocumentNode, roots: ReadonlySet<FieldNode>): ReadonlySet<string> {
  const names = new Set<string>();
  visit(document, {
    VariableDefinition: () => false,
    Field: (node) => (roots.has(node) && node.arguments?.length ? { ...node, arguments: [] } : undefined),
    Variable: ({ name }) => {
      names.add(name.value);
    },
  });
  return names;
}
