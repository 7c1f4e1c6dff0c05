import {
  getNamedType,
  isInterfaceType,
  isObjectType,
  Kind,
  type ArgumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type InlineFragmentNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';

import { defaultPageSize, maxPageSize } from '../../domain/page.ts';
import { collectFields, type Fragments, fragmentsIn, type OperationSource } from '../../platform/executor/index.ts';
import { pageFields } from '../connections/connection.ts';
import { isCharged as isChargedBy } from '../field-extensions.ts';
import { oncePerFragment } from './checked-document.ts';
import type { Measure, SizingValue } from './measures.ts';

/** A list in an operation, which multiplies what its entries select. */
export interface CountedList {
  /** The response keys of the objects that it is in, and its own: `pets`, `category.pets`. */
  readonly path: string;
  readonly entries: number;
  /** The complexity for one parent, with everything in it. */
  readonly complexity: number;
  /** The list that counts most in each of its entries. */
  readonly within: CountedList | undefined;
}

const complexityOfTotalCount = 20;
/** A text that few names contain may have all of them looked through. */
const complexityOfSearch = 500;

/** The measures of some selections of one type. */
interface Size {
  readonly depth: number;
  readonly complexity: number;
  /** The complexity of all searches: parents don't multiply it, because a field searches once for all of them. */
  readonly searches: number;
  readonly list: CountedList | undefined;
  readonly aliases: number;
  /** An estimate of what it writes. */
  readonly bytes: number;
  /** Whether the rows of a connection are read, and whether they are counted. */
  readonly isPaged: boolean;
  readonly isCounted: boolean;
  /** A field costs something where others are free. */
  readonly isCharged: boolean;
}

const empty: Size = {
  depth: 0,
  complexity: 0,
  searches: 0,
  list: undefined,
  aliases: 0,
  bytes: 0,
  isPaged: false,
  isCounted: false,
  isCharged: false,
};

type Counted = Pick<Size, 'complexity' | 'list'>;

const nothing: Counted = { complexity: 0, list: undefined };

/**
 * Measures an operation in one walk. Each fragment is measured once, so that the work grows with the document, never
 * with what its fragments expand to.
 *
 * Complexity: a field that returns an object counts 1 for each parent; edges, page information and introspection
 * nothing. A connection whose rows are read counts, instead of 1, its page size times 1 plus what its nodes select, and
 * 20 more when they are counted, at least 1. A filter with `nameContains` counts 500 more for the rows and 500 more for
 * their count, once for the field, however many parents it has. `nodes` counts the number of its ids times 1 plus its
 * selection. Fields that are selected twice count twice, though they are merged.
 */
export function measureOperation(source: OperationSource, values: ReadonlyMap<string, SizingValue>): Measure {
  return new Walk(source, values).measure();
}

class Walk {
  readonly #source: OperationSource;
  readonly #values: ReadonlyMap<string, SizingValue>;
  readonly #fragments: Fragments;
  readonly #ofSpread: (name: string) => Size;

  constructor(source: OperationSource, values: ReadonlyMap<string, SizingValue>) {
    this.#source = source;
    this.#values = values;
    this.#fragments = fragmentsIn(source.document);
    this.#ofSpread = oncePerFragment(this.#fragments, empty, (fragment) => this.#ofFragment(fragment, undefined));
  }

  measure(): Measure {
    const { operation, schema } = this.#source;
    const rootType = schema.getRootType(operation.operation) as GraphQLObjectType;
    const { searches, ...size } = this.#ofSelections(operation.selectionSet, rootType);
    const { depth, list, aliases, bytes, isCharged } = size;
    const complexity = countable(size.complexity + searches);
    const collected = collectFields(
      { schema, fragments: this.#fragments },
      rootType,
      [operation.selectionSet],
      (node) => !this.#isSkipped(node),
    );
    const rootFields = [...collected.values()].map(([node]) => node.name.value);
    const executedFields = rootFields.filter((name) => !name.startsWith('__'));
    const rootFieldNames = [...new Set(rootFields)];
    const [name = '', second] = rootFieldNames;
    const label = `${operation.operation} ${second === undefined ? name : 'of several fields'}`;
    const measured = { depth, complexity, searchComplexity: searches, list, aliases, bytes };
    return { ...measured, isCharged, rootFields, executedFields, rootFieldNames, label };
  }

  #ofSelections({ selections }: SelectionSetNode, parent: GraphQLNamedType | undefined): Size {
    let { depth, complexity, searches, list, aliases, bytes, isPaged, isCounted, isCharged } = empty;
    for (const selection of selections) {
      if (this.#isSkipped(selection)) continue;
      const size = this.#ofSelection(selection, parent);
      depth = Math.max(depth, size.depth);
      complexity = countable(complexity + size.complexity);
      searches = countable(searches + size.searches);
      list = heavier(list, size.list);
      aliases = countable(aliases + size.aliases);
      bytes = countable(bytes + size.bytes);
      isPaged ||= size.isPaged;
      isCounted ||= size.isCounted;
      isCharged ||= size.isCharged;
    }
    return { depth, complexity, searches, list, aliases, bytes, isPaged, isCounted, isCharged };
  }

  #ofSelection(selection: SelectionNode, parent: GraphQLNamedType | undefined): Size {
    if (selection.kind === Kind.FIELD) return this.#ofField(selection, parent);
    if (selection.kind === Kind.INLINE_FRAGMENT) return this.#ofFragment(selection, parent);
    return this.#ofSpread(selection.name.value);
  }

  #ofFragment(
    { typeCondition, selectionSet }: FragmentDefinitionNode | InlineFragmentNode,
    parent: GraphQLNamedType | undefined,
  ): Size {
    const type = typeCondition && this.#source.schema.getType(typeCondition.name.value);
    return this.#ofSelections(selectionSet, type ?? parent);
  }

  #ofField(field: FieldNode, parent: GraphQLNamedType | undefined): Size {
    const { value: name } = field.name;
    const type = typeOfField(parent, name);
    const within = field.selectionSet === undefined ? empty : this.#ofSelections(field.selectionSet, type);
    const aliases = countable(within.aliases + (field.alias === undefined ? 0 : 1));
    const keyBytes = (field.alias ?? field.name).value.length + bytesAroundField;
    if (name.startsWith('__')) {
      const isText = name === '__typename';
      return { ...empty, aliases, bytes: isText ? keyBytes + bytesOfLeaf : Number.MAX_SAFE_INTEGER };
    }
    const isOfConnection = isConnection(parent);
    return {
      depth: within.depth + 1,
      ...(field.selectionSet === undefined ? nothing : this.#countOf(field, parent, type, within)),
      searches: within.searches + this.#searchesOf(field, type, within),
      aliases,
      bytes: countable(keyBytes + this.#resultBytes(field, type, within)),
      isPaged: isOfConnection && pageFields.has(name),
      isCounted: isOfConnection && name === 'totalCount',
      isCharged: within.isCharged || isChargedField(parent, name),
    };
  }

  #countOf(
    field: FieldNode,
    parent: GraphQLNamedType | undefined,
    type: GraphQLNamedType | undefined,
    within: Size,
  ): Counted {
    const { value: name } = field.name;
    const isPartOfPage = isConnection(parent) ? pageFields.has(name) : isEdge(parent) && name === 'node';
    if (isPartOfPage) return { complexity: within.complexity, list: within.list };
    const { value: key } = field.alias ?? field.name;
    const times = this.#timesOf(field, type);
    if (isConnection(type)) {
      const size = within.isPaged ? times : 0;
      const rows = Math.max(1, size * (1 + within.complexity));
      const complexity = countable(rows + (within.isCounted ? complexityOfTotalCount : 0));
      return { complexity, list: listWith(key, size, complexity, within.list) };
    }
    const complexity = countable(times * (1 + within.complexity));
    return { complexity, list: listWith(key, times, complexity, within.list) };
  }

  #searchesOf(field: FieldNode, type: GraphQLNamedType | undefined, { isPaged, isCounted }: Size): number {
    if (!isConnection(type) || !this.#isSearch(field)) return 0;
    return (Number(isPaged) + Number(isCounted)) * complexityOfSearch;
  }

  /** Whether the filter of a list has a text that names must contain; an empty one filters nothing. */
  #isSearch({ arguments: args = [] }: FieldNode): boolean {
    const filter = args.find(({ name }) => name.value === 'filter')?.value;
    const text =
      filter?.kind === Kind.OBJECT ? filter.fields.find(({ name }) => name.value === 'nameContains') : undefined;
    const given = text === undefined ? filter : text.value;
    if (given?.kind === Kind.VARIABLE) return this.#values.get(given.name.value) === 1;
    return given?.kind === Kind.STRING && given.value !== '';
  }

  #resultBytes(field: FieldNode, type: GraphQLNamedType | undefined, within: Size): number {
    if (field.selectionSet !== undefined) return Math.max(1, this.#timesOf(field, type)) * within.bytes;
    if (type?.name !== 'String') return bytesOfLeaf;
    return shortTexts.has(field.name.value) ? bytesOfShortText : bytesOfText;
  }

  /** How often what is selected below a field is read for one parent. */
  #timesOf(field: FieldNode, type: GraphQLNamedType | undefined): number {
    if (isConnection(type)) return this.#pageSize(field);
    const ids = this.#argument(field.arguments, 'nodeIds');
    return typeof ids === 'number' ? Math.min(Math.max(ids, 0), maxPageSize) : 1;
  }

  /** An invalid size counts as the nearest valid one: the service refuses it with a clearer message. */
  #pageSize(field: FieldNode): number {
    const sizes = [this.#argument(field.arguments, 'first'), this.#argument(field.arguments, 'last')];
    const size = sizes.find((given) => typeof given === 'number') ?? defaultPageSize;
    return Math.min(Math.max(size, 0), maxPageSize);
  }

  #isSkipped({ directives = [] }: SelectionNode): boolean {
    return directives.some(
      ({ name, arguments: args }) =>
        (name.value === 'skip' && this.#argument(args, 'if') === true) ||
        (name.value === 'include' && this.#argument(args, 'if') === false),
    );
  }

  #argument(args: readonly ArgumentNode[] | undefined, name: string): SizingValue {
    const value = args?.find((argument) => argument.name.value === name)?.value;
    if (value?.kind === Kind.VARIABLE) return this.#values.get(value.name.value);
    if (value?.kind === Kind.INT) return name === 'nodeIds' ? 1 : Number(value.value);
    if (value?.kind === Kind.LIST) return value.values.length;
    return value?.kind === Kind.BOOLEAN ? value.value : undefined;
  }
}

/** Quotation marks, colon, comma and brackets. */
const bytesAroundField = 6;
const bytesOfLeaf = 48;
/** The longest ones, of 2,000 and of 255 characters. */
const bytesOfText = 8_000;
const bytesOfShortText = 1_020;
const shortTexts: ReadonlySet<string> = new Set(['name', 'cursor', 'startCursor', 'endCursor']);

/** Keeps the product of nested lists finite: infinity times 0 would be NaN. */
function countable(size: number): number {
  return Math.min(size, Number.MAX_SAFE_INTEGER);
}

function heavier(one: CountedList | undefined, other: CountedList | undefined): CountedList | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return other.complexity > one.complexity ? other : one;
}

/** The list that counts most in a field: the field itself, unless it can't be made shorter. */
function listWith(
  key: string,
  entries: number,
  complexity: number,
  within: CountedList | undefined,
): CountedList | undefined {
  if (entries > 1) return { path: key, entries, complexity, within };
  if (entries === 0 || within === undefined) return undefined;
  return { ...within, path: `${key}.${within.path}` };
}

function isChargedField(parent: GraphQLNamedType | undefined, name: string): boolean {
  const field = isObjectType(parent) ? parent.getFields()[name] : undefined;
  return field !== undefined && isChargedBy(field);
}

function typeOfField(parent: GraphQLNamedType | undefined, name: string): GraphQLNamedType | undefined {
  if (!isObjectType(parent) && !isInterfaceType(parent)) return undefined;
  return getNamedType(parent.getFields()[name]?.type);
}

/** Recognised by its shape, as in the Relay specification; so is an edge. */
function isConnection(type: GraphQLNamedType | undefined): boolean {
  return hasFields(type, 'edges', 'pageInfo');
}

function isEdge(type: GraphQLNamedType | undefined): boolean {
  return hasFields(type, 'node', 'cursor');
}

function hasFields(type: GraphQLNamedType | undefined, ...names: readonly string[]): boolean {
  if (!isObjectType(type)) return false;
  const fields = type.getFields();
  return names.every((name) => fields[name] !== undefined);
}
