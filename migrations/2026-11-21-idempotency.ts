import { Migration } from '@mikro-orm/migrations';

/** The stored response of each idempotency key. */
export class IdempotencyMigration extends Migration {
  override up(): void {
    this.addSql(`create table idempotency_records (
      principal_id text collate "C",
      key text collate "C",
      fingerprint text not null,
      answer jsonb not null,
      created_at timestamptz(3) not null,
      primary key (principal_id, key)
    )`);
    this.addSql('create index on idempotency_records (created_at)');
  }

  override down(): void {
    this.addSql('drop table idempotency_records');
  }
}
