import { registerEnumType } from 'type-graphql';

/** Registers the values of a domain type: `available` is `AVAILABLE`, `pet.created` is `PET_CREATED`. */
export function registerEnum<Value extends string>(
  name: string,
  description: string,
  values: Readonly<Record<Value, string>>,
): Readonly<Record<string, string>> {
  const entries = Object.entries<string>(values).map(
    ([value, about]) => [value.toUpperCase().replace(/\W/, '_'), value, about] as const,
  );
  const registered = Object.fromEntries(entries.map(([key, value]) => [key, value]));
  const valuesConfig = Object.fromEntries(entries.map(([key, , about]) => [key, { description: about }]));
  registerEnumType(registered, { name, description, valuesConfig });
  return registered;
}
