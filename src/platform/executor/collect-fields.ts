import {
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
  type SelectionNode,
  type SelectionSetNode,
  visit,
} from 'graphql';

export type Fragments = Readonly<Record<string, FragmentDefinitionNode>>;

/**
 * The specification's CollectFields: the nodes of each response key, in order. Each fragment is visited once, however
 * often it is spread.
 */
export function collectFields(
  { schema, fragments }: { readonly schema: GraphQLSchema; readonly fragments: Fragments },
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
  isSelected: (node: SelectionNode) => boolean,
): ReadonlyMap<string, readonly [FieldNode, ...FieldNode[]]> {
  const fields = new Map<string, [FieldNode, ...FieldNode[]]>();
  const visited = new Set<string>();
  const collect = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      if (selection.kind === Kind.FRAGMENT_SPREAD && visited.has(selection.name.value)) continue;
      if (!isSelected(selection)) continue;
      if (selection.kind === Kind.FIELD) {
        const key = (selection.alias ?? selection.name).value;
        const nodes = fields.get(key);
        if (nodes === undefined) fields.set(key, [selection]);
        else nodes.push(selection);
        continue;
      }
      if (selection.kind === Kind.FRAGMENT_SPREAD) visited.add(selection.name.value);
      const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments[selection.name.value] : selection;
      if (fragment !== undefined && applies(schema, fragment, type)) collect(fragment.selectionSet);
    }
  };
  for (const set of sets) collect(set);
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

function applies(
  schema: GraphQLSchema,
  { typeCondition }: InlineFragmentNode | FragmentDefinitionNode,
  type: GraphQLObjectType,
): boolean {
  if (typeCondition === undefined || typeCondition.name.value === type.name) return true;
  const condition = schema.getType(typeCondition.name.value);
  return isAbstractType(condition) && schema.isSubType(condition, type);
}

/** The fragments of a document by name. */
export function fragmentsIn({ definitions }: DocumentNode): Fragments {
  const fragments = Object.create(null) as Record<string, FragmentDefinitionNode>;
  for (const definition of definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments[definition.name.value] = definition;
  }
  return fragments;
}

/** The variables that a document gives to arguments of these names, those of directives included. */
export function variablesFor(argumentNames: ReadonlySet<string>, document: DocumentNode): readonly string[] {
  const variables = new Set<string>();
  visit(document, {
    Argument: ({ name, value }) => {
      if (value.kind === Kind.VARIABLE && argumentNames.has(name.value)) variables.add(value.name.value);
    },
  });
  return [...variables];
}
