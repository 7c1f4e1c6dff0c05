import type { Rule } from '../input.ts';

/** What a key may do, each including those before it. */
export const scopes = ['read', 'write', 'admin'] as const;

export type Scope = (typeof scopes)[number];

/** Whether the granted scopes include the required one: write includes read, admin includes all. */
export function includesScope(granted: readonly Scope[], needed: Scope): boolean {
  const rank = scopes.indexOf(needed);
  return granted.some((scope) => scopes.indexOf(scope) >= rank);
}

/** At least one scope; duplicates are dropped, the order is the one above. */
export const scopesRule: Rule<readonly Scope[], Scope[]> = (value, refuse) => {
  if (value.length === 0) refuse(`must have at least one of ${scopes.join(', ')}.`);
  return scopes.filter((scope) => value.includes(scope));
};
