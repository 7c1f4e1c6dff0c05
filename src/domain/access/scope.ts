import { DomainError } from '../errors.ts';
import type { Rule } from '../input.ts';

export type Scope = 'read' | 'write' | 'webhooks' | 'admin';

/** What a key may do with each scope, in words. */
export const scopeDescriptions: Readonly<Record<Scope, string>> = {
  read: 'Queries.',
  write: 'Mutations of the store, and queries.',
  webhooks: 'Webhook endpoints of its own, and queries.',
  admin: 'Everything, API keys included.',
};

/** The scopes that each includes besides itself; `admin` includes all. */
const included: ReadonlyMap<string, readonly Scope[]> = new Map([
  ['write', ['read']],
  ['webhooks', ['read']],
]);

export const scopes = Object.keys(scopeDescriptions) as Scope[];

/** As they are stored: a scope of a newer version allows nothing. */
export interface ScopeHolder {
  readonly scopes: readonly string[];
}

/** Throws FORBIDDEN unless the holder has each of these scopes, or one that includes it. */
export function requireScopes(holder: ScopeHolder, needed: readonly Scope[]): void {
  for (const scope of needed) {
    if (hasScope(holder, scope)) continue;
    const granted = holder.scopes.join(', ') || 'none';
    throw new DomainError('FORBIDDEN', `This needs a key with the scope ${scope}, but yours has ${granted}.`);
  }
}

export function hasScope({ scopes: granted }: ScopeHolder, needed: Scope): boolean {
  return granted.some(
    (scope) => scope === needed || scope === 'admin' || included.get(scope)?.includes(needed) === true,
  );
}

export function hasEqualScopes(one: ScopeHolder, other: ScopeHolder): boolean {
  return one.scopes.toSorted().join() === other.scopes.toSorted().join();
}

/** Without those of a newer version. */
export function knownScopes({ scopes: granted }: ScopeHolder): Scope[] {
  return scopes.filter((scope) => granted.includes(scope));
}

/** At least one scope; duplicates are dropped. */
export const scopesRule: Rule<readonly Scope[], Scope[]> = (value, refuse) => {
  if (value.length === 0) refuse(`must have at least one of ${scopes.join(', ')}.`);
  return knownScopes({ scopes: value });
};
