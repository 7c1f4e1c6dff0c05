import { getArgumentValues, isLeafType, Kind, valueFromAST, visit, BREAK, getNullableType } from 'graphql';
import type { ArgumentNode, FieldNode, GraphQLArgument, GraphQLField, ValueNode } from 'graphql';

/** Coerced or not: each use says. */
export type Variables = Readonly<Record<string, unknown>>;
export type Arguments = Record<string, unknown>;

/** The arguments of a field; see `Run.argumentsOf`. */
export type ArgumentsOf = (variables: Variables) => Arguments;

/** Sets or omits one argument; false when it is invalid, so that graphql-js reports why. */
type Setter = (args: Arguments, variables: Variables) => boolean;

/**
 * Prepares the arguments of a field, as the specification's CoerceArgumentValues has them.
 *
 * Constant values of leaf types are coerced once. Unusual cases, errors above all, are left to graphql-js.
 */
export function prepareArguments(field: GraphQLField<unknown, unknown>, node: FieldNode): ArgumentsOf {
  if (field.args.length === 0) return () => ({});
  const setters = field.args.map((definition) =>
    prepareArgument(
      definition,
      node.arguments?.find(({ name }) => name.value === definition.name),
    ),
  );
  return (variables) => {
    const args: Arguments = {};
    for (const set of setters) if (!set(args, variables)) return getArgumentValues(field, node, variables);
    return args;
  };
}

function prepareArgument({ name, type, defaultValue }: GraphQLArgument, node: ArgumentNode | undefined): Setter {
  // An omitted argument matters only where null is forbidden, which validation has checked.
  if (node === undefined) {
    if (defaultValue === undefined) return () => true;
    return isLeafType(getNullableType(type)) ? constant(name, defaultValue) : () => false;
  }
  const { value } = node;
  if (value.kind === Kind.VARIABLE) return variable(name, value.name.value);
  if (hasVariable(value) || !isLeafType(getNullableType(type)) || value.kind === Kind.NULL) {
    return (args, variables) => {
      const coerced = valueFromAST(value, type, variables);
      args[name] = coerced;
      return coerced !== undefined;
    };
  }
  const coerced = valueFromAST(value, type);
  return coerced === undefined ? () => false : constant(name, coerced);
}

function constant(name: string, value: unknown): Setter {
  return (args) => {
    args[name] = value;
    return true;
  };
}

/** A variable's value is of the argument's type already. Only one that is missing or null has to be checked. */
function variable(name: string, variableName: string): Setter {
  return (args, variables) => {
    const value = variables[variableName];
    if (value === undefined || value === null) return false;
    args[name] = value;
    return true;
  };
}

function hasVariable(value: ValueNode): boolean {
  let found = false;
  visit(value, {
    Variable: () => {
      found = true;
      return BREAK;
    },
  });
  return found;
}
