import {
  GraphQLError,
  Kind,
  type ASTVisitor,
  type FragmentDefinitionNode,
  type SelectionSetNode,
  type ValidationContext,
} from 'graphql';

/** The field that returns an object as it was, by its parent's name. */
const pastObject = { parent: 'Event', field: 'object' };

/**
 * A validation rule: below `object` of an event only the object's own fields can be selected.
 *
 * They are as they were at the time of the event; what is nested in them is another object, of another time. Each
 * fragment is visited once, so that the work grows with the text.
 */
export function OwnFieldsOfPastObjects(context: ValidationContext): ASTVisitor {
  const visited = new Set<FragmentDefinitionNode>();
  const check = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) {
        if (selection.selectionSet === undefined || selection.name.value.startsWith('__')) continue;
        const message = `"${selection.name.value}" can't be selected below "object" of an event: only the object's own fields can, as they were then.`;
        context.reportError(new GraphQLError(message, { nodes: selection }));
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        check(selection.selectionSet);
      } else {
        const fragment = context.getFragment(selection.name.value);
        if (!fragment || visited.has(fragment)) continue;
        visited.add(fragment);
        check(fragment.selectionSet);
      }
    }
  };
  return {
    Field: ({ name, selectionSet }) => {
      const isPast = name.value === pastObject.field && context.getParentType()?.name === pastObject.parent;
      if (isPast && selectionSet !== undefined) check(selectionSet);
    },
  };
}
