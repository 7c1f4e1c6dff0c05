import { AccessMigration } from './2026-11-21-access.ts';
import { IdempotencyMigration } from './2026-11-21-idempotency.ts';
import { StoreMigration } from './2026-11-21-store.ts';
import { KeyManagementMigration } from './2026-11-22-key-management.ts';

/** All migrations, oldest first, by the names under which the database remembers them. */
export const migrations = [
  { name: '2026-11-21-store', migration: StoreMigration },
  { name: '2026-11-21-access', migration: AccessMigration },
  { name: '2026-11-21-idempotency', migration: IdempotencyMigration },
  { name: '2026-11-22-key-management', migration: KeyManagementMigration },
] as const;
