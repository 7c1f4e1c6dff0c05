import { registerEnumType } from 'type-graphql';

type NameOf<Value extends string> = Value extends `${infer Noun}.${infer Verb}` ? `${Noun}_${Verb}` : Value;
type EnumOf<Value extends string> = { readonly [Each in Value as Uppercase<NameOf<Each>>]: Each };

/**
 * Registers an enum of the schema for the values of a domain type, each with its description: `available` is
 * `AVAILABLE`, `pet.created` is `PET_CREATED`.
 */
export function registerEnum<Value extends string>(
  name: string,
  description: string,
  values: Readonly<Record<Value, string>>,
): EnumOf<Value> {
  const entries = Object.entries<string>(values).map(
    ([value, about]) => [value.toUpperCase().replace('.', '_'), value, about] as const,
  );
  const registered = Object.fromEntries(entries.map(([key, value]) => [key, value])) as EnumOf<Value>;
  registerEnumType(registered, {
    name,
    description,
    valuesConfig: Object.fromEntries(entries.map(([key, , about]) => [key, { description: about }])) as Record<
      keyof EnumOf<Value>,
      { description: string }
    >,
  });
  return registered;
}
