import { getArgumentValues, Kind, type FieldNode, type GraphQLField } from 'graphql';

/** Coerced or not: each use says. */
export type Variables = Readonly<Record<string, unknown>>;
export type Arguments = Record<string, unknown>;

/** The arguments of a field; see `Run.argumentsOf`. */
export type ArgumentsOf = (variables: Variables) => Arguments;

/**
 * Prepares the arguments of a field, as the specification's CoerceArgumentValues has them.
 *
 * Where all of them are variables, their values are of the arguments' types already; one that is missing or null, and
 * everything else, is left to graphql-js.
 */
export function prepareArguments(field: GraphQLField<unknown, unknown>, node: FieldNode): ArgumentsOf {
  const coerce: ArgumentsOf = (variables) => getArgumentValues(field, node, variables);
  const copied: (readonly [name: string, variable: string])[] = [];
  for (const { name, defaultValue } of field.args) {
    const value = node.arguments?.find((given) => given.name.value === name)?.value;
    if (value?.kind === Kind.VARIABLE) copied.push([name, value.name.value]);
    else if (value !== undefined || defaultValue !== undefined) return coerce;
  }
  return (variables) => {
    const args: Arguments = {};
    for (const [name, variable] of copied) {
      const value = variables[variable];
      if (value === undefined || value === null) return coerce(variables);
      args[name] = value;
    }
    return args;
  };
}
