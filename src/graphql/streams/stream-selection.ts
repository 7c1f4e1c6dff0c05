import { hash } from 'node:crypto';

import {
  getNamedType,
  isCompositeType,
  isObjectType,
  Kind,
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
  fragmentsIn,
  isIncluded,
  type OperationSource,
  PreparedOperation,
  type Variables,
} from '../../platform/executor/index.ts';
import { HttpError } from '../../http/error-table.ts';
import { causeOf, overLimit } from '../pipeline/errors.ts';

/** The limit of what one selection keeps, and an estimate of what it keeps for each field besides its text. */
const maxBytes = 64 * 1024;
const bytesOfField = 800;

/** The limit of the result of one event. */
export const maxResultBytes = 64 * 1024;
const start = '{"data":';
const end = '}';

/**
 * The selection of a stream on each event, as an operation of its own: nothing of its document is kept, nor its variables,
 * which decide `@skip` and `@include` only. Fields of events take no arguments, and are read or computed at once.
 */
export class StreamSelection {
  /** Two operations that write the same have the same. */
  readonly key: string;
  /** An estimate of its memory. */
  readonly bytes: number;
  readonly #prepared: PreparedOperation;

  /** Throws GRAPHQL_VALIDATION_FAILED for one that would keep too much. */
  constructor(source: OperationSource, variables: Variables) {
    const { schema } = source;
    const root = schema.getSubscriptionType() as GraphQLObjectType;
    const text = JSON.stringify(select(source, variables, root, [source.operation.selectionSet]));
    this.key = hash('sha256', text, 'base64url');
    this.bytes = text.length + bytesOfField * (text.match(/"kind":"Field"/g)?.length ?? 0);
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
    const options = { context: undefined, variables: {}, maxBytes: maxResultBytes - start.length - end.length };
    const { data, errors } = this.#prepared.resultOf(event, options);
    if (data === undefined) throw resultTooLarge();
    if (errors.length > 0) throw causeOf(errors[0]);
    return [start, ...data.chunks, data.text, end].join('');
  }
}

/** The same selections without arguments, conditions and named fragments. */
function select(
  source: OperationSource,
  variables: Variables,
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
): SelectionSetNode {
  const { schema, document } = source;
  const fragments = fragmentsIn(document);
  const fields = collectFields({ schema, fragments }, type, sets, (node) => isIncluded(node, variables));
  const selections = [...fields].map(([key, nodes]): SelectionNode => {
    const { value: name } = nodes[0].name;
    const field = { kind: Kind.FIELD, alias: nameOf(key), name: nameOf(name) } as const;
    const typeBelow = getNamedType(type.getFields()[name]?.type);
    if (!isCompositeType(typeBelow)) return field;
    const setsBelow = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    const below = possibleTypes(schema, typeBelow).map((possible): SelectionNode => ({
      kind: Kind.INLINE_FRAGMENT,
      typeCondition: { kind: Kind.NAMED_TYPE, name: nameOf(possible.name) },
      selectionSet: select(source, variables, possible, setsBelow),
    }));
    const selectionSet: SelectionSetNode = { kind: Kind.SELECTION_SET, selections: below };
    return Object.assign(field, { selectionSet });
  });
  return { kind: Kind.SELECTION_SET, selections };
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
