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
} from 'graphql';

/** What decides which fields an operation selects. */
interface CollectionSource {
  readonly schema: GraphQLSchema;
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>;
  /** The variables that its conditions name. */
  readonly conditions: Readonly<Record<string, unknown>>;
}

/**
 * The specification's CollectFields: the nodes of each response key, in order. Each fragment is visited once, however
 * often it is spread.
 */
export function collectFields(
  { schema, fragments, conditions }: CollectionSource,
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
): Map<string, FieldNode[]> {
  const fields = new Map<string, FieldNode[]>();
  const visited = new Set<string>();
  const collect = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      if (selection.kind === Kind.FRAGMENT_SPREAD && visited.has(selection.name.value)) continue;
      if (!isIncluded(selection, conditions)) continue;
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

function isIncluded(node: SelectionNode, conditions: Readonly<Record<string, unknown>>): boolean {
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
export function fragmentsIn({ definitions }: DocumentNode): ReadonlyMap<string, FragmentDefinitionNode> {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  }
  return fragments;
}
