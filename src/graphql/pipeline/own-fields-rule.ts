import { GraphQLError, Kind, type ASTVisitor, type SelectionSetNode, type ValidationContext } from 'graphql';

import { fragmentsIn, walkSelections } from '../../platform/executor/index.ts';

/** The field that returns an object as it was, by its parent's name. */
const pastObject = { parent: 'Event', field: 'object' };

/** Below `object` of an event only its own fields can be selected: what is nested is of another time. */
export function OwnFieldsOfPastObjects(context: ValidationContext): ASTVisitor {
  const sets: SelectionSetNode[] = [];
  return {
    Field: ({ name, selectionSet }) => {
      const isPast = name.value === pastObject.field && context.getParentType()?.name === pastObject.parent;
      if (isPast && selectionSet !== undefined) sets.push(selectionSet);
    },
    Document: {
      leave: (document) => {
        if (sets.length === 0) return;
        walkSelections(sets, fragmentsIn(document), (selection) => {
          if (selection.kind !== Kind.FIELD) return true;
          const { value: name } = selection.name;
          if (selection.selectionSet === undefined) return true;
          const message = `"${name}" can't be selected below "object" of an event: only the object's own fields can, as they were then.`;
          if (!name.startsWith('__')) context.reportError(new GraphQLError(message, { nodes: selection }));
          return true;
        });
      },
    },
  };
}
