import type { QuotaSubject } from '../../platform/quotas/index.ts';
import type { PlanName } from './plan.ts';
import type { ScopeHolder } from './scope.ts';

/** The id of whoever has ADMIN_API_KEY, which is no key of the table. */
export const adminId = 'admin';

/** Who asks: the holder of a key, an operator or the service itself. */
export interface Actor extends ScopeHolder {
  /** The id of a key, or `admin` for ADMIN_API_KEY. */
  readonly id: string;
  readonly name: string;
}

/** The holder of a valid key, with the limits and bans of the key. */
export interface Principal extends QuotaSubject, Actor {
  readonly plan: PlanName;
  /** In milliseconds since 1970; null when it never expires. */
  readonly expiresAt: number | null;
}

/** Whoever runs a command on the service's machine. */
export const operator: Actor = { id: 'cli', name: 'cli', scopes: ['admin'] };

/** What the service does by itself. */
export const serviceItself: Actor = { id: 'service', name: 'service', scopes: ['admin'] };

/** The actor in the history of changes: the key's id, `ADMIN_API_KEY`, `cli` or `service`. */
export function nameInHistory({ id, name }: Actor): string {
  return id === adminId ? name : id;
}
