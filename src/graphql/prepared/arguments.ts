import { getArgumentValues, isLeafType, Kind, valueFromAST, visit, BREAK, getNullableType } from 'graphql';
import type { ArgumentNode, FieldNode, GraphQLArgument, GraphQLField, ValueNode } from 'graphql';

type Variables = Readonly<Record<string, unknown>>;
type Arguments = Record<string, unknown>;

/** The arguments of one call, a new object each time: resolvers may keep or change theirs. */
export type ArgumentsOf = (variables: Variables) => Arguments;

/** Sets one argument, or leaves it out; false when it can't be had like this, and graphql-js has to say why. */
type Setter = (args: Arguments, variables: Variables) => boolean;

/**
 * Prepares the arguments of a field, as the specification's CoerceArgumentValues has them.
 *
 * What can't change from call to call is coerced once: values of leaf types. What is out of the ordinary is left to graphql-js, errors above all.
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
  // What is left out is null's concern only where null is forbidden, which validation has seen to.
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

/** A variable's value is of the argument's type already. Only one that is missing or null has to be looked at. */
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
