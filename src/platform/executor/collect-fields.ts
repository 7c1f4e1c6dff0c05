import {
  type ArgumentNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  getDirectiveValues,
  GraphQLIncludeDirective,
  type GraphQLObjectType,
  type GraphQLSchema,
  GraphQLSkipDirective,
  type InlineFragmentNode,
  isAbstractType,
  Kind,
  type ObjectFieldNode,
  type SelectionNode,
  type SelectionSetNode,
  visit,
} from 'graphql';

export type Fragments = Readonly<Record<string, FragmentDefinitionNode>>;

type Fragment = FragmentDefinitionNode | InlineFragmentNode;

/**
 * Visits the selections of some sets, and of the fragments in them, in order.
 *
 * `enters` gets each selection, with its fragment if it has one, and says whether the fragment's selections are visited
 * next; undefined leaves that to a later spread of the same fragment. What it has said of a fragment holds: later spreads
 * come without it, so that the work grows with the text.
 */
export function walkSelections(
  sets: readonly SelectionSetNode[],
  fragments: Fragments,
  enters: (selection: SelectionNode, fragment: Fragment | undefined) => boolean | undefined,
): void {
  const seen = new Set<Fragment>();
  const walk = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      let fragment: Fragment | undefined = selection.kind === Kind.INLINE_FRAGMENT ? selection : undefined;
      if (selection.kind === Kind.FRAGMENT_SPREAD) fragment = fragments[selection.name.value];
      if (fragment !== undefined && seen.has(fragment)) fragment = undefined;
      const isEntered = enters(selection, fragment);
      if (fragment === undefined || isEntered === undefined) continue;
      seen.add(fragment);
      if (isEntered) walk(fragment.selectionSet);
    }
  };
  for (const set of sets) walk(set);
}

/** The specification's CollectFields: the nodes of each response key, in order. */
export function collectFields(
  { schema, fragments }: { readonly schema: GraphQLSchema; readonly fragments: Fragments },
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
  isSelected: (node: SelectionNode) => boolean,
): ReadonlyMap<string, readonly [FieldNode, ...FieldNode[]]> {
  const fields = new Map<string, [FieldNode, ...FieldNode[]]>();
  walkSelections(sets, fragments, (selection, fragment) => {
    if (selection.kind !== Kind.FIELD)
      return fragment !== undefined && isSelected(selection) ? applies(schema, fragment, type) : undefined;
    if (!isSelected(selection)) return false;
    const key = (selection.alias ?? selection.name).value;
    const nodes = fields.get(key);
    if (nodes === undefined) fields.set(key, [selection]);
    else nodes.push(selection);
    return false;
  });
  return fields;
}

/** Whether `@skip` and `@include` let a node be selected. Throws the GraphQLError of a condition that is null. */
export function isIncluded(node: SelectionNode, conditions: Readonly<Record<string, unknown>>): boolean {
  if (node.directives === undefined || node.directives.length === 0) return true;
  return (
    getDirectiveValues(GraphQLSkipDirective, node, conditions)?.['if'] !== true &&
    getDirectiveValues(GraphQLIncludeDirective, node, conditions)?.['if'] !== false
  );
}

function applies(schema: GraphQLSchema, { typeCondition }: Fragment, type: GraphQLObjectType): boolean {
  if (typeCondition === undefined || typeCondition.name.value === type.name) return true;
  const condition = schema.getType(typeCondition.name.value);
  return isAbstractType(condition) && schema.isSubType(condition, type);
}

export function fragmentsIn({ definitions }: DocumentNode): Fragments {
  const fragments = Object.create(null) as Record<string, FragmentDefinitionNode>;
  for (const definition of definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments[definition.name.value] = definition;
  }
  return fragments;
}

/** The variables that a document gives to arguments of these names, those of directives included, or to input fields. */
export function variablesFor(names: ReadonlySet<string>, document: DocumentNode): readonly string[] {
  const variables = new Set<string>();
  const visitGiven = ({ name, value }: ArgumentNode | ObjectFieldNode): void => {
    if (value.kind === Kind.VARIABLE && names.has(name.value)) variables.add(value.name.value);
  };
  visit(document, { Argument: visitGiven, ObjectField: visitGiven });
  return [...variables];
}
