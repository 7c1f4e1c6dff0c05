import {
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  separateOperations,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';

import type { OperationSource } from '../platform/executor/index.ts';

export interface SchemaDeprecation {
  /** `Pet.inventory`, `Pet.orders(filter:)`, `PetFilter.nameContains` or `PetStatus.SOLD`, as the GraphQL specification has it. */
  readonly coordinate: string;
  /** What to use instead: the reason of `@deprecated`. */
  readonly reason: string;
  readonly since: Date;
  readonly sunset: Date;
}

/** What is deprecated today. A line here is all that a deprecation takes. */
export const deprecations: readonly SchemaDeprecation[] = [];

/** What the schema says of a field, an argument or a value. */
interface Definition {
  deprecationReason?: string | null | undefined;
  extensions: object;
}

interface DeprecatedDefinition {
  readonly deprecation?: SchemaDeprecation;
}

/** Marks what is deprecated. Throws for a coordinate that the schema lacks. */
export function deprecate(schema: GraphQLSchema, table: readonly SchemaDeprecation[]): void {
  for (const deprecation of table) {
    const { coordinate, reason, sunset } = deprecation;
    const definition = definitionAt(schema, coordinate);
    if (definition === undefined) throw new TypeError(`There is no ${coordinate} in the schema to deprecate.`);
    definition.deprecationReason = `${reason} Until ${sunset.toISOString().slice(0, 10)}.`;
    definition.extensions = { ...definition.extensions, deprecation } satisfies DeprecatedDefinition;
  }
}

/** What an operation uses of it, each once, the earliest sunset first. Values in variables aren't looked at. */
export function deprecatedIn({ schema, document, operation }: OperationSource): readonly SchemaDeprecation[] {
  const found = new Set<SchemaDeprecation>();
  const types = new TypeInfo(schema);
  const add = (definition: { readonly extensions: object } | null | undefined): void => {
    const { deprecation }: DeprecatedDefinition = definition?.extensions ?? {};
    if (deprecation !== undefined) found.add(deprecation);
  };
  const own = separateOperations(document)[operation.name?.value ?? ''] ?? document;
  visit(
    own,
    visitWithTypeInfo(types, {
      Field: () => add(types.getFieldDef()),
      Argument: () => add(types.getArgument()),
      ObjectField: ({ name }) => {
        const input = types.getParentInputType();
        if (isInputObjectType(input)) add(input.getFields()[name.value]);
      },
      EnumValue: () => add(types.getEnumValue()),
    }),
  );
  return [...found].toSorted((one, other) => one.sunset.getTime() - other.sunset.getTime());
}

function definitionAt(schema: GraphQLSchema, coordinate: string): Definition | undefined {
  const [, typeName = '', name = '', argument] = /^(\w+)\.(\w+)(?:\((\w+):\))?$/.exec(coordinate) ?? [];
  const type = schema.getType(typeName);
  if (isEnumType(type)) return type.getValue(name) ?? undefined;
  if (isInputObjectType(type)) return type.getFields()[name];
  if (!isObjectType(type) && !isInterfaceType(type)) return undefined;
  const field = type.getFields()[name];
  return argument === undefined ? field : field?.args.find((each) => each.name === argument);
}
