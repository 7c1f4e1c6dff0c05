import { Migration } from '@mikro-orm/migrations';

/**
 * What was answered to each idempotency key: the response of REST, whose field is `/`, or of GraphQL the payload of each
 * root field; the empty field is a whole operation with `@atomic`.
 */
export class IdempotencyMigration extends Migration {
  override up(): void {
    this.addSql(script);
  }

  override down(): void {
    this.addSql('drop function claim_idempotency_key; drop table idempotency_records');
  }
}

const script = `
  create table idempotency_records (
    principal_id text collate "C", key text collate "C", field text collate "C",
    fingerprint text not null, result jsonb not null, created_at timestamptz(3) not null,
    primary key (principal_id, key, field), check (field = '/' or octet_length(result::text) <= 16384)
  );
  create index on idempotency_records (created_at);
  -- Locks first, then looks: each statement of a volatile function sees what was committed before it.
  create function claim_idempotency_key(owner text, wanted text, lock_name text, fields text[], since timestamptz)
    returns table (kind text, field text, fingerprint text, result text) volatile language plpgsql as $claim$
  begin
    if not pg_try_advisory_xact_lock(hashtextextended(lock_name, 0)) then
      return query select 'running', '', '', ''; return;
    end if;
    return query select 'field', each.field::text, each.fingerprint, each.result::text from idempotency_records each
      where each.principal_id = owner and each.key = wanted and each.field = any(fields) and each.created_at > since;
    return query select 'other', '', '', '' from idempotency_records each where each.principal_id = owner
      and each.key = wanted and each.field <> all(fields) and each.created_at > since limit 1;
  end $claim$`;
