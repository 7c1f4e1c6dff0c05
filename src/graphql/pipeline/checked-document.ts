import {
  GraphQLError,
  Kind,
  OperationTypeNode,
  visit,
  type DocumentNode,
  type FragmentDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';

import type { OnRefusal } from '../../http/observe/bounds.ts';
import { type Fragments, fragmentsIn, walkSelections } from '../../platform/executor/index.ts';
import { overLimit, tooManyRepetitions } from './errors.ts';

/** A document that can be validated in bounded time, or the reason why it can't. */
export interface CheckedDocument {
  /** How many fields it selects, fragments expanded. */
  readonly fieldCount: number;
  /** The document that is validated in its place; undefined for one that is refused. */
  readonly comparable?: DocumentNode;
  readonly refusal?: GraphQLError;
}

/** They take some ten milliseconds; graphql-js itself would go on to 500,000. Many fragments need hundreds. */
const maxComparisons = 20_000;

/** Checks a parsed document, in time that grows with its text, for what graphql-js (16.15) can't validate well. */
export function checkDocument(document: DocumentNode, maxFields: number, onRefusal: OnRefusal): CheckedDocument {
  const fieldCount = countSelectedFields(document);
  const refuse = (message: string): CheckedDocument => {
    onRefusal('fields');
    return { fieldCount, refusal: overLimit(message) };
  };
  if (fieldCount > maxFields)
    return refuse(`The operation selects ${fieldCount} fields, but at most ${maxFields} are allowed.`);
  const conditional = conditionalRoot(document);
  if (conditional !== undefined) return { fieldCount, refusal: conditionalRootError(conditional) };
  if (isComparable(document)) return { fieldCount, comparable: document };
  const comparable = withoutRepetitions(document);
  return isComparable(comparable) ? { fieldCount, comparable } : refuse(tooManyRepetitions);
}

function isComparable(document: DocumentNode): boolean {
  return countComparisons(document, maxComparisons) < maxComparisons;
}

/**
 * How many fields a document selects: the most of any of its operations and fragments, with the fragments within
 * expanded, whatever `@skip` and `@include` say.
 *
 * For documents that are not validated yet: each fragment is counted once, so that the work grows with the text alone.
 * A fragment within itself counts as empty there; validation refuses it.
 */
function countSelectedFields(document: DocumentNode): number {
  const ofFragment = oncePerFragment(fragmentsIn(document), 0, ({ selectionSet }) => ofSelections(selectionSet));
  const ofSelection = (selection: SelectionNode): number => {
    if (selection.kind === Kind.FRAGMENT_SPREAD) return ofFragment(selection.name.value);
    if (selection.kind === Kind.INLINE_FRAGMENT) return ofSelections(selection.selectionSet);
    return 1 + (selection.selectionSet === undefined ? 0 : ofSelections(selection.selectionSet));
  };
  // Repeated doubling would reach infinity.
  const ofSelections = ({ selections }: SelectionSetNode): number =>
    selections.reduce((count, selection) => Math.min(count + ofSelection(selection), Number.MAX_SAFE_INTEGER), 0);
  const counts = document.definitions.map((definition) => {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) return ofFragment(definition.name.value);
    return definition.kind === Kind.OPERATION_DEFINITION ? ofSelections(definition.selectionSet) : 0;
  });
  return Math.max(0, ...counts);
}

/** Computes a value of each fragment once. It is `empty` for one that isn't there, and for one within itself. */
export function oncePerFragment<Value>(
  fragments: Fragments,
  empty: Value,
  compute: (fragment: FragmentDefinitionNode) => Value,
): (name: string) => Value {
  const known = new Map<string, Value>();
  return (name) => {
    let value = known.get(name);
    if (value === undefined) {
      const { [name]: fragment } = fragments;
      known.set(name, empty);
      value = fragment === undefined ? empty : compute(fragment);
      known.set(name, value);
    }
    return value;
  };
}

/** The fragments around a selection, the nearest one first. */
interface Surrounding {
  readonly name: string;
  readonly outer: Surrounding | undefined;
}

interface PlacedSelections {
  readonly selections: readonly SelectionNode[];
  readonly within: Surrounding | undefined;
}

/** The fields that are selected at one place of the response, from however many selection sets. */
interface Level {
  readonly fields: Map<string, { count: number; readonly selectionSets: PlacedSelections[] }>;
  readonly spreads: Set<string>;
}

/**
 * How many comparisons validation makes of a document, at least `limit` when there are so many or more.
 *
 * graphql-js (16.15) compares every two fields of the same response name at the same place of the response, and every
 * two fragments spread there: `{ pets { id } pets { id } … }` with 400 of them takes 80,000 comparisons of two levels.
 * They are counted here, not made: the work is that of the fields, with fragments expanded, which are limited before.
 * A fragment within itself counts as empty there, however many fields are between; validation refuses it.
 */
export function countComparisons(document: DocumentNode, limit: number): number {
  const fragments = fragmentsIn(document);
  let count = 0;

  const collect = (selections: readonly SelectionNode[], level: Level, within: Surrounding | undefined): void => {
    for (const selection of selections) {
      // A field on its own is a step, too: so the work here is bounded by what it counts.
      if ((count += 1) >= limit) return;
      if (selection.kind === Kind.INLINE_FRAGMENT) {
        collect(selection.selectionSet.selections, level, within);
      } else if (selection.kind === Kind.FRAGMENT_SPREAD) {
        collectSpread(selection.name.value, level, within);
      } else {
        const name = (selection.alias ?? selection.name).value;
        const same = level.fields.get(name) ?? { count: 0, selectionSets: [] };
        level.fields.set(name, same);
        count += same.count;
        same.count += 1;
        const selected = selection.selectionSet?.selections;
        if (selected !== undefined) same.selectionSets.push({ selections: selected, within });
      }
    }
  };
  const collectSpread = (name: string, level: Level, outer: Surrounding | undefined): void => {
    const { [name]: fragment } = fragments;
    if (fragment === undefined || level.spreads.has(name) || isWithin(name, outer)) return;
    count += level.spreads.size;
    level.spreads.add(name);
    collect(fragment.selectionSet.selections, level, { name, outer });
  };
  const countLevel = (selectionSets: readonly PlacedSelections[]): void => {
    const level: Level = { fields: new Map(), spreads: new Set() };
    for (const { selections, within } of selectionSets) collect(selections, level, within);
    for (const same of level.fields.values()) {
      if (count >= limit) return;
      if (same.selectionSets.length > 0) countLevel(same.selectionSets);
    }
  };

  for (const definition of document.definitions)
    if ('selectionSet' in definition) {
      const within =
        definition.kind === Kind.FRAGMENT_DEFINITION ? { name: definition.name.value, outer: undefined } : undefined;
      countLevel([{ selections: definition.selectionSet.selections, within }]);
    }
  return count;
}

function isWithin(name: string, surrounding: Surrounding | undefined): boolean {
  for (let each = surrounding; each !== undefined; each = each.outer) if (each.name === name) return true;
  return false;
}

/** Without selections that repeat another of their set, word for word: as valid, with the same messages. */
export function withoutRepetitions(document: DocumentNode): DocumentNode {
  return visit(document, {
    SelectionSet: (selectionSet) => {
      const selections = new Map(selectionSet.selections.map((selection) => [writtenAs(selection), selection]));
      return selections.size === selectionSet.selections.length
        ? undefined
        : { ...selectionSet, selections: [...selections.values()] };
    },
  });
}

function writtenAs({ loc }: SelectionNode): unknown {
  return loc?.source.body.slice(loc.start, loc.end);
}

/**
 * The selection that makes a root field of a subscription depend on `@skip` or `@include`, which the specification
 * forbids (September 2025, 5.2.4.1). graphql-js 16 evaluates them while it validates, without variables, and throws.
 */
function conditionalRoot(document: DocumentNode): SelectionNode | undefined {
  const sets = document.definitions.flatMap((definition) => {
    const isOperation = definition.kind === Kind.OPERATION_DEFINITION;
    return isOperation && definition.operation === OperationTypeNode.SUBSCRIPTION ? definition.selectionSet : [];
  });
  let found: SelectionNode | undefined;
  walkSelections(sets, fragmentsIn(document), (selection) => {
    if (selection.directives?.some(({ name: { value } }) => value === 'skip' || value === 'include') === true)
      found ??= selection;
    return true;
  });
  return found;
}

function conditionalRootError(nodes: SelectionNode): GraphQLError {
  const message = 'The root field of a subscription must not depend on @skip or @include: leave them out.';
  return new GraphQLError(message, {
    nodes,
    extensions: { code: 'GRAPHQL_VALIDATION_FAILED', http: { status: 400 } },
  });
}
