import type { QuotaSubject } from '../../platform/quotas/index.ts';
import type { PlanName } from './plan.ts';
import type { Scope } from './scope.ts';

/** The holder of a valid key, with the limits and bans of the key. Its id is `admin` for ADMIN_API_KEY. */
export interface Principal extends QuotaSubject {
  readonly name: string;
  readonly plan: PlanName;
  readonly scopes: readonly Scope[];
  /** In milliseconds since 1970; null when it never expires. */
  readonly expiresAt: number | null;
}

/** The actor in the history of changes: the key's id, or `ADMIN_API_KEY`. */
export function nameInHistory({ id, name }: Principal): string {
  return id === 'admin' ? name : id;
}
