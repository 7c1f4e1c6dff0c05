import { Migration } from '@mikro-orm/migrations';

import { eventMaintenance, eventMover } from './2026-11-27-events/move.ts';
import { furtherTables, outboxFunctions, outboxTriggers } from './2026-11-27-events/outbox.ts';

/**
 * The log of changes.
 *
 * Model: statement triggers write each change into `event_outbox`, inside the transaction that makes it.
 * `petstore_move_events` moves what has been committed into `events`, in the order of the outbox's ids, and alone gives
 * positions. It runs under a lock, so there is one at a time, and each run is one transaction.
 *
 * Guarantees: a position is given after the commit, so a reader of one has missed nothing before it. A later change of
 * one row waits for the earlier one to commit before its trigger runs, so the ids of one row's changes have the order
 * of their commits. What another transaction, or another database of the server, holds open doesn't matter.
 *
 * Failures: a killed run leaves everything as it was. After a crash the sequence of the outbox's ids may go back only
 * to ids that were never committed. After a restore the position may be given again, with another salt, so that readers
 * notice.
 */
export class EventsMigration extends Migration {
  override up(): void {
    this.addSql(tables);
    for (const script of [outboxFunctions, outboxTriggers, eventMover, eventMaintenance])
      this.addSql(inThisSchema(script));
    this.addSql(furtherTables);
    this.addSql(rights);
  }

  override down(): void {
    for (const [table, noun] of [
      ['categories', 'category'],
      ['pets', 'pet'],
      ['orders', 'order'],
      ['inventory', 'inventory'],
    ])
      this.addSql(`select petstore_forget_events('${table}', '${noun}')`);
    this.addSql(
      'drop function petstore_record_events, petstore_forget_events, petstore_maintain_events, petstore_move_events',
    );
    this.addSql('drop function petstore_event_truncation, petstore_event_resync, petstore_protect_events');
    this.addSql('drop table events, event_backlog, event_outbox, event_state');
  }
}

/** A function that runs with the rights of its owner names everything with its schema, which is known when it is created. */
function inThisSchema(script: string): string {
  return `do $do$ begin execute replace($text$${script}$text$, '@schema', quote_ident(current_schema())); end $do$`;
}

const tables = `
  -- Without an index: a row lives for a fifth of a second. \`before\` and \`after\` are a status or a quantity, one half of
  -- an inventory entry's state, which is all of its change; others have a body.
  create table event_outbox (
    id bigint generated always as identity not null,
    at timestamptz not null default clock_timestamp(),
    type text not null,
    object_id bigint,
    before text,
    after text,
    body json
  ) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_analyze_threshold = 10000);

  -- Changes that are too many for one run of the mover.
  create table event_backlog (like event_outbox, primary key (id))
    with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);
  create index on event_backlog (object_id);

  -- Each partition has a primary key of its own: an inherited one can't be dropped by \`pg_restore --clean\`.
  create table events (
    position bigint not null,
    salt bigint not null,
    type text not null,
    at timestamptz(3) not null,
    object_id bigint,
    body json
  ) partition by range (position);

  -- The last event, and the last of those whose partitions were dropped: readers at these have missed nothing.
  create table event_state (
    is_only boolean primary key default true check (is_only),
    position bigint not null default 0,
    salt bigint not null,
    dropped_position bigint not null,
    dropped_salt bigint not null,
    mover text,
    moved_at timestamptz not null default now(),
    backlog_from bigint,
    log_time timestamptz not null default clock_timestamp(),
    timed_at timestamptz not null default clock_timestamp()
  ) with (fillfactor = 50);
  -- A reader of the beginning has missed nothing.
  insert into event_state (salt, dropped_position, dropped_salt)
    select salt, 0, salt from (select hashtextextended(gen_random_uuid()::text, 0) as salt) as beginning`;

const rights = `
  revoke execute on function petstore_maintain_events(interval, interval), petstore_move_events(text, int) from public;
  select petstore_protect_events(relation)
  from unnest('{events, event_outbox, event_backlog, event_state}'::regclass[]) as relation`;
