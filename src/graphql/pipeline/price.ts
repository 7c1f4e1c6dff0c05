import {
  Kind,
  valueFromASTUntyped,
  type DirectiveNode,
  type DocumentNode,
  type FragmentDefinitionNode,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';

/** An operation that is valid, and its variables as they were sent. */
interface Operation {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** What an operation asks of the root: the fields by the names that they have in the response. */
type RootFields = ReadonlyMap<string, string>;

/**
 * The root fields that an operation would execute: fragments expanded, `@skip` and `@include` applied, equal response keys merged, as
 * the specification's CollectFields does. Each fragment is visited once, however often it is spread.
 */
export function rootFieldsOf({ document, operation, variables }: Operation): RootFields {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  }
  const values = withDefaults(operation, variables);
  const fields = new Map<string, string>();
  const collect = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      if (!isIncluded(selection, values)) continue;
      if (selection.kind === Kind.FIELD) {
        fields.set((selection.alias ?? selection.name).value, selection.name.value);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        collect(selection.selectionSet);
      } else {
        const fragment = fragments.get(selection.name.value);
        fragments.delete(selection.name.value);
        if (fragment !== undefined) collect(fragment.selectionSet);
      }
    }
  };
  collect(operation.selectionSet);
  return fields;
}

/**
 * What an operation costs: 1 for each root field, and at least 1. Introspection and `__typename` are free beside others.
 *
 * Free as a whole is only the question how much is left.
 */
export function priceOf(fields: RootFields): number {
  const names = [...fields.values()];
  const isOnlyRateLimit =
    names.includes('rateLimit') && names.every((name) => name === 'rateLimit' || name === '__typename');
  if (isOnlyRateLimit) return 0;
  return Math.max(1, names.filter((name) => !name.startsWith('__')).length);
}

/** A name for the metrics, of which there are only so many as the schema has root fields. */
export function operationLabel({ operation }: OperationDefinitionNode, fields: RootFields): string {
  const [name = '', ...others] = new Set(fields.values());
  return `${operation} ${others.length === 0 ? name : 'of several fields'}`;
}

function isIncluded({ directives = [] }: SelectionNode, values: ReadonlyMap<string, unknown>): boolean {
  return directives.every(
    (directive) =>
      (directive.name.value !== 'skip' || conditionOf(directive, values) !== true) &&
      (directive.name.value !== 'include' || conditionOf(directive, values) !== false),
  );
}

function conditionOf({ arguments: args = [] }: DirectiveNode, values: ReadonlyMap<string, unknown>): unknown {
  const value = args.find(({ name }) => name.value === 'if')?.value;
  if (value?.kind === Kind.VARIABLE) return values.get(value.name.value);
  return value?.kind === Kind.BOOLEAN ? value.value : undefined;
}

function withDefaults(
  { variableDefinitions = [] }: OperationDefinitionNode,
  given: Operation['variables'],
): Map<string, unknown> {
  return new Map(
    variableDefinitions.map(({ variable: { name }, defaultValue }) => {
      const isGiven = Object.hasOwn(given, name.value);
      return [name.value, isGiven ? given[name.value] : defaultValue && valueFromASTUntyped(defaultValue)];
    }),
  );
}
