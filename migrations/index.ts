import { AccessMigration } from './2026-11-27-access.ts';
import { EventsMigration } from './2026-11-27-events.ts';
import { IdempotencyMigration } from './2026-11-27-idempotency.ts';
import { InstallationMigration } from './2026-11-27-installation.ts';
import { RequestsMigration } from './2026-11-28-requests.ts';
import { StoreMigration } from './2026-11-27-store.ts';
import { WebhooksMigration } from './2026-11-27-webhooks.ts';

/** `create trigger`, for the log of events, and a foreign key. */
const triggers = 'SHARE ROW EXCLUSIVE';

/**
 * All migrations, oldest first, by the names under which the database remembers them. The locks are the strongest that
 * each takes on a table of an earlier one: `migrate --dry-run` prints them, and a test compares them with pg_locks.
 */
export const migrations = [
  { name: '2026-11-27-store', migration: StoreMigration, locks: {} },
  { name: '2026-11-27-access', migration: AccessMigration, locks: {} },
  { name: '2026-11-27-idempotency', migration: IdempotencyMigration, locks: {} },
  { name: '2026-11-27-installation', migration: InstallationMigration, locks: {} },
  {
    name: '2026-11-27-events',
    migration: EventsMigration,
    locks: { categories: triggers, inventory: triggers, orders: triggers, pets: triggers },
  },
  { name: '2026-11-27-webhooks', migration: WebhooksMigration, locks: { api_keys: triggers } },
  { name: '2026-11-28-requests', migration: RequestsMigration, locks: {} },
] as const;
