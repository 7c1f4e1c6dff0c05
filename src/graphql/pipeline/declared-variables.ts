import type { KnownOperation } from './documents.ts';

type Variables = Readonly<Record<string, unknown>>;

/** Those of the variables that the operation declares. */
export function declaredOf({ source }: Pick<KnownOperation, 'source'>, variables: Variables): Variables {
  const definitions = source.operation.variableDefinitions ?? [];
  return only(
    variables,
    definitions.map(({ variable }) => variable.name.value),
  );
}

/** Those of the variables that a document may declare, which isn't parsed yet: it has their names. */
export function namedIn(text: string, variables: Variables): Variables {
  return only(variables, new Set(text.match(/[_A-Za-z]\w*/g)));
}

function only(variables: Variables, names: Iterable<string>): Variables {
  // Without a prototype: `__proto__` is a name, too.
  const found = Object.create(null) as Record<string, unknown>;
  for (const name of names) if (Object.hasOwn(variables, name)) found[name] = variables[name];
  return found;
}
