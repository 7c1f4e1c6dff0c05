import { AccessMigration } from './2026-11-21-access.ts';
import { IdempotencyMigration } from './2026-11-21-idempotency.ts';
import { StoreMigration } from './2026-11-21-store.ts';
import { KeyManagementMigration } from './2026-11-22-key-management.ts';
import { EventsMigration } from './2026-11-23-events.ts';
import { GraphQLIdempotencyMigration } from './2026-11-23-graphql-idempotency.ts';
import { KeyInstantsMigration } from './2026-11-23-key-instants.ts';
import { InstallationMigration } from './2026-11-23-installation.ts';
import { EventBacklogMigration } from './2026-11-24-event-backlog.ts';
import { PetCheckMigration } from './2026-11-24-pet-check.ts';
import { RecordedTablesMigration } from './2026-11-25-recorded-tables.ts';
import { EventHalvesMigration } from './2026-11-25-event-halves.ts';
import { EventDaysMigration } from './2026-11-25-event-days.ts';
import { FoldMigration } from './2026-11-25-fold.ts';
import { UnreadableChangesMigration } from './2026-11-26-unreadable-changes.ts';

/** All migrations, oldest first, by the names under which the database remembers them. */
export const migrations = [
  { name: '2026-11-21-store', migration: StoreMigration },
  { name: '2026-11-21-access', migration: AccessMigration },
  { name: '2026-11-21-idempotency', migration: IdempotencyMigration },
  { name: '2026-11-22-key-management', migration: KeyManagementMigration },
  { name: '2026-11-23-graphql-idempotency', migration: GraphQLIdempotencyMigration },
  { name: '2026-11-23-key-instants', migration: KeyInstantsMigration },
  { name: '2026-11-23-installation', migration: InstallationMigration },
  { name: '2026-11-23-events', migration: EventsMigration },
  { name: '2026-11-24-pet-check', migration: PetCheckMigration },
  { name: '2026-11-24-event-backlog', migration: EventBacklogMigration },
  { name: '2026-11-25-recorded-tables', migration: RecordedTablesMigration },
  { name: '2026-11-25-event-halves', migration: EventHalvesMigration },
  { name: '2026-11-25-event-days', migration: EventDaysMigration },
  { name: '2026-11-25-fold', migration: FoldMigration },
  { name: '2026-11-26-unreadable-changes', migration: UnreadableChangesMigration },
] as const;
