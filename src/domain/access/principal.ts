import { DomainError } from '../errors.ts';
import type { QuotaSubject } from '../../platform/quotas/index.ts';
import type { PlanName } from './plan.ts';
import { includesScope, type Scope } from './scope.ts';

/** The holder of a valid key, with the limits and bans of the key. Its id is `admin` for ADMIN_API_KEY. */
export interface Principal extends QuotaSubject {
  readonly name: string;
  readonly plan: PlanName;
  readonly scopes: readonly Scope[];
  /** In milliseconds since 1970; null when it never expires. */
  readonly expiresAt: number | null;
}

/** Throws FORBIDDEN when the key may not do what needs this scope. */
export function requireScope({ scopes }: Principal, needed: Scope): void {
  if (includesScope(scopes, needed)) return;
  throw new DomainError('FORBIDDEN', `This needs a key with the scope ${needed}, but yours has ${scopes.join(', ')}.`);
}

/** The actor in the history of changes: the key's id, or `ADMIN_API_KEY`. */
export function nameInHistory({ id, name }: Principal): string {
  return id === 'admin' ? name : id;
}
