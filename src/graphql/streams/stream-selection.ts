import { hash } from 'node:crypto';

import {
  getNamedType,
  isCompositeType,
  isObjectType,
  Kind,
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLObjectType,
  type GraphQLSchema,
  type NameNode,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';

import {
  collectFields,
  type Fragments,
  fragmentsIn,
  isIncluded,
  type OperationSource,
  PreparedOperation,
  type Variables,
} from '../../platform/executor/index.ts';
import { hasScope, type ScopeHolder } from '../../domain/access/scope.ts';
import { HttpError } from '../../http/error-table.ts';
import { causeOf, overLimit } from '../pipeline/errors.ts';

/** The limit of what one selection keeps, and an estimate of what it keeps besides its text. */
const maxBytes = 64 * 1024;
const bytesOfField = 400;
/** For each type on which a field is prepared. */
const bytesOfPrepared = 400;
/** A selection on all types counts as if there were so many: a further noun refuses no subscription that fitted. */
const countedTypes = 8;

/** The limit of the result of one event. */
export const maxResultBytes = 64 * 1024;
const start = '{"data":';
const end = '}';

/** An operation of its own: nothing of its document is kept, nor its variables, which decide conditions only. */
export class StreamSelection {
  /** Two operations that write the same have the same, if both or neither are an administrator's. */
  readonly key: string;
  /** An estimate of its memory. */
  readonly bytes: number;
  readonly #prepared: PreparedOperation;
  readonly #context: { readonly principal: ScopeHolder };

  /** Throws GRAPHQL_VALIDATION_FAILED for one that would keep too much. */
  constructor(source: OperationSource, variables: Variables, { scopes }: ScopeHolder) {
    const { schema } = source;
    const root = schema.getSubscriptionType() as GraphQLObjectType;
    const selector = new Selector(source, variables);
    const text = JSON.stringify(selector.select(root, [source.operation.selectionSet]));
    this.#context = { principal: { scopes } };
    this.key = hash('sha256', text, 'base64url') + (hasScope({ scopes }, 'admin') ? ' admin' : '');
    this.bytes = text.length + bytesOfField * selector.fields + bytesOfPrepared * selector.prepared;
    if (this.bytes > maxBytes) throw tooLarge(this.bytes);
    const operation: OperationDefinitionNode = {
      kind: Kind.OPERATION_DEFINITION,
      operation: OperationTypeNode.SUBSCRIPTION,
      // Parsed, so that no name is a part of the document's text, which it would keep.
      selectionSet: JSON.parse(text) as SelectionSetNode,
    };
    const document = { kind: Kind.DOCUMENT, definitions: [operation] } as const;
    this.#prepared = new PreparedOperation({ schema, document, operation });
  }

  /** The result for an event as JSON text. Throws RESULT_TOO_LARGE. */
  textOf(event: unknown): string {
    const options = { context: this.#context, variables: {}, maxBytes: maxResultBytes - start.length - end.length };
    const { data, errors } = this.#prepared.resultOf(event, options);
    if (data === undefined) throw resultTooLarge();
    if (errors.length > 0) throw causeOf(errors[0]);
    return [start, ...data.chunks, data.text, end].join('');
  }
}

type Selected = readonly [key: string, nodes: readonly [FieldNode, ...FieldNode[]]];

/** Writes the selections of an operation without arguments, conditions and named fragments. */
class Selector {
  readonly #source: OperationSource;
  readonly #fragments: Fragments;
  readonly #variables: Variables;
  /** Written, each once. */
  fields = 0;
  /** Prepared, for each type. */
  prepared = 0;

  constructor(source: OperationSource, variables: Variables) {
    this.#source = source;
    this.#fragments = fragmentsIn(source.document);
    this.#variables = variables;
  }

  /** Fields that are selected on every possible type are written once, before and after those of some. */
  select(type: GraphQLCompositeType, sets: readonly SelectionSetNode[]): SelectionSetNode {
    const { schema } = this.#source;
    const lists = possibleTypes(schema, type).map((each) => ({ type: each, fields: this.#collect(each, sets) }));
    const shared = sharedOf(lists.map(({ fields }) => fields));
    if (lists.length > 1) this.prepared += shared.length * Math.max(0, countedTypes - lists.length);
    const selections: SelectionNode[] = [];
    for (const next of [...shared, undefined]) {
      for (const { type: each, fields } of lists) {
        const length = fields.findIndex(([, [node]]) => node === next);
        const own = fields.splice(0, length === -1 ? fields.length : length).map((field) => this.#write(each, field));
        const condition = { kind: Kind.NAMED_TYPE, name: nameOf(each.name) } as const;
        if (lists.length === 1) selections.push(...own);
        else if (own.length > 0) {
          const selectionSet: SelectionSetNode = { kind: Kind.SELECTION_SET, selections: own };
          selections.push({ kind: Kind.INLINE_FRAGMENT, typeCondition: condition, selectionSet });
        }
      }
      const [first] = lists.map(({ type: each, fields }) => ({ each, field: fields.shift() }));
      if (first?.field !== undefined) selections.push(this.#write(first.each, first.field));
    }
    return { kind: Kind.SELECTION_SET, selections };
  }

  #collect(type: GraphQLObjectType, sets: readonly SelectionSetNode[]): Selected[] {
    const { schema } = this.#source;
    const isSelected = (node: SelectionNode): boolean => isIncluded(node, this.#variables);
    const fields = [...collectFields({ schema, fragments: this.#fragments }, type, sets, isSelected)];
    this.prepared += fields.length;
    return fields;
  }

  #write(type: GraphQLObjectType, [key, nodes]: Selected): FieldNode {
    this.fields += 1;
    const { value: name } = nodes[0].name;
    const field = { kind: Kind.FIELD, alias: nameOf(key), name: nameOf(name) } as const;
    const typeBelow = getNamedType(type.getFields()[name]?.type);
    if (!isCompositeType(typeBelow)) return field;
    const setsBelow = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    return Object.assign(field, { selectionSet: this.select(typeBelow, setsBelow) });
  }
}

/** The nodes without a selection of their own that are in all lists, unless their order differs. */
function sharedOf(lists: readonly (readonly Selected[])[]): readonly FieldNode[] {
  const [first = [], ...others] = lists.map((fields) => fields.map(([, [node]]) => node));
  const sets = others.map((nodes) => new Set(nodes));
  const shared = first.filter((node) => node.selectionSet === undefined && sets.every((nodes) => nodes.has(node)));
  const all = new Set(shared);
  const areInOrder = others.every((nodes) =>
    nodes.filter((node) => all.has(node)).every((node, index) => node === shared[index]),
  );
  return areInOrder ? shared : [];
}

function possibleTypes(schema: GraphQLSchema, type: GraphQLCompositeType): readonly GraphQLObjectType[] {
  return isObjectType(type) ? [type] : schema.getPossibleTypes(type);
}

function nameOf(value: string): NameNode {
  return { kind: Kind.NAME, value };
}

function tooLarge(bytes: number): Error {
  return overLimit(
    `What the subscription selects would take ${bytes} bytes to remember, but at most ${maxBytes} are allowed: select fewer fields, or choose shorter aliases.`,
  );
}

function resultTooLarge(): HttpError {
  const message = `The result of this event would be larger than the ${maxResultBytes} bytes that are allowed: select fewer fields, and read the object itself.`;
  return new HttpError('RESULT_TOO_LARGE', message);
}
