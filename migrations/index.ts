import { AccessMigration } from './2026-11-27-access.ts';
import { EventsMigration } from './2026-11-27-events.ts';
import { IdempotencyMigration } from './2026-11-27-idempotency.ts';
import { InstallationMigration } from './2026-11-27-installation.ts';
import { StoreMigration } from './2026-11-27-store.ts';
import { WebhooksMigration } from './2026-11-27-webhooks.ts';

/** All migrations, oldest first, by the names under which the database remembers them. */
export const migrations = [
  { name: '2026-11-27-store', migration: StoreMigration },
  { name: '2026-11-27-access', migration: AccessMigration },
  { name: '2026-11-27-idempotency', migration: IdempotencyMigration },
  { name: '2026-11-27-installation', migration: InstallationMigration },
  { name: '2026-11-27-events', migration: EventsMigration },
  { name: '2026-11-27-webhooks', migration: WebhooksMigration },
] as const;
