import { Kind, visit, type DocumentNode, type SelectionNode, type SelectionSetNode } from 'graphql';

import { fragmentsIn } from '../executor/collect-fields.ts';

/** What is selected at one place of the response, from however many selection sets. */
interface Level {
  readonly fields: Map<string, { count: number; readonly selectionSets: SelectionSetNode[] }>;
  readonly spreads: Set<string>;
}

/**
 * How many comparisons validation makes of a document, at least `limit` when there are so many or more.
 *
 * graphql-js (16.15) compares every two fields of the same response name at the same place of the response, and every
 * two fragments spread there: `{ pets { id } pets { id } … }` with 400 of them takes 80,000 comparisons of two levels.
 * They are counted here, not made: the work is that of the fields, with fragments expanded, which are limited before.
 */
export function countComparisons(document: DocumentNode, limit: number): number {
  const fragments = fragmentsIn(document);
  let count = 0;

  const collect = (selections: readonly SelectionNode[], level: Level): void => {
    for (const selection of selections) {
      // A field on its own is a step, too: so the work here is bounded by what it counts.
      if ((count += 1) >= limit) return;
      if (selection.kind === Kind.INLINE_FRAGMENT) {
        collect(selection.selectionSet.selections, level);
      } else if (selection.kind === Kind.FRAGMENT_SPREAD) {
        collectSpread(selection.name.value, level);
      } else {
        const name = (selection.alias ?? selection.name).value;
        const same = level.fields.get(name) ?? { count: 0, selectionSets: [] };
        level.fields.set(name, same);
        count += same.count;
        same.count += 1;
        if (selection.selectionSet !== undefined) same.selectionSets.push(selection.selectionSet);
      }
    }
  };
  const collectSpread = (name: string, level: Level): void => {
    const { [name]: fragment } = fragments;
    if (fragment === undefined || level.spreads.has(name)) return;
    count += level.spreads.size;
    level.spreads.add(name);
    collect(fragment.selectionSet.selections, level);
  };
  const countLevel = (selectionSets: readonly SelectionSetNode[]): void => {
    const level: Level = { fields: new Map(), spreads: new Set() };
    for (const { selections } of selectionSets) collect(selections, level);
    for (const same of level.fields.values()) {
      if (count >= limit) return;
      if (same.selectionSets.length > 0) countLevel(same.selectionSets);
    }
  };

  for (const definition of document.definitions)
    if ('selectionSet' in definition) countLevel([definition.selectionSet]);
  return count;
}

/**
 * The document without selections that repeat another one of the same selection set, word for word. It is valid if, and
 * only if, the document is, and has no other messages.
 */
export function withoutRepetitions(document: DocumentNode): DocumentNode {
  return visit(document, {
    SelectionSet: (selectionSet) => {
      const selections = new Map(selectionSet.selections.map((selection) => [textOf(selection), selection]));
      return selections.size === selectionSet.selections.length
        ? undefined
        : { ...selectionSet, selections: [...selections.values()] };
    },
  });
}

function textOf({ loc }: SelectionNode): unknown {
  return loc?.source.body.slice(loc.start, loc.end);
}
