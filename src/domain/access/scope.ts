import { DomainError } from '../errors.ts';
import type { Rule } from '../input.ts';

/** The rights of a key, each including those before it. */
export const scopes = ['read', 'write', 'admin'] as const;

export type Scope = (typeof scopes)[number];

/** Throws FORBIDDEN when a key with these scopes may not do what needs this one: write includes read, admin all. */
export function requireScope({ scopes: granted }: { readonly scopes: readonly Scope[] }, needed: Scope): void {
  const rank = scopes.indexOf(needed);
  if (granted.some((scope) => scopes.indexOf(scope) >= rank)) return;
  throw new DomainError('FORBIDDEN', `This needs a key with the scope ${needed}, but yours has ${granted.join(', ')}.`);
}

/** At least one scope; duplicates are dropped, the order is the one above. */
export const scopesRule: Rule<readonly Scope[], Scope[]> = (value, refuse) => {
  if (value.length === 0) refuse(`must have at least one of ${scopes.join(', ')}.`);
  return scopes.filter((scope) => value.includes(scope));
};
