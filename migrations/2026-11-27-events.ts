import { Migration } from '@mikro-orm/migrations';

import { eventMaintenance, eventMoves } from './2026-11-27-events/move.ts';
import { outboxFunctions } from './2026-11-27-events/outbox.ts';
import { forgetEvents, recordEvents } from './2026-11-27-events/recorded-table.ts';
import { inThisSchema } from './2026-11-27-events/schema.ts';

/**
 * The log of changes. Statement triggers write each change into `event_outbox`, inside the transaction that makes it.
 * `petstore_move_events` moves what has been committed into `events`, in the order of the outbox's ids, one run at a
 * time, each of them a transaction, and alone gives positions: a reader of one has missed nothing before it. A later
 * change of a row waits for the earlier one to commit before its trigger runs, so ids have the order of the commits.
 * A killed run leaves everything as it was. After a crash the sequence of the outbox's ids goes back only to ids that
 * were never committed. After a restore a position may be given again, with another nonce: readers notice.
 */
export class EventsMigration extends Migration {
  override up(): void {
    this.addSql(tables);
    for (const script of [outboxFunctions, eventMoves, eventMaintenance]) this.addSql(inThisSchema(script));
    for (const script of recorded.flatMap(recordEvents)) this.addSql(script);
    this.addSql(rights);
  }

  override down(): void {
    for (const table of recorded) this.addSql(forgetEvents(table));
    this.addSql(`
      drop function petstore_maintain_events, petstore_move_events, petstore_event_truncation, petstore_event_resync,
        petstore_protect_events;
      drop table events, event_backlog, event_outbox, event_state`);
  }
}

const recorded = [
  { table: 'categories', noun: 'category' },
  { table: 'pets', noun: 'pet', half: 'status' },
  { table: 'orders', noun: 'order', deleted: 'cancelled' },
  { table: 'inventory', noun: 'inventory', id: 'pet_id', half: 'quantity', hasBody: false },
] as const;

const tables = `
  -- Without an index: a row lives for a fifth of a second. \`before\` and \`after\` are a status or a quantity, half of
  -- an inventory entry's state; a change of an entry has nothing else, others have a body. \`request\` is what the
  -- setting petstore.request is: the id of a key and, after a colon, that of a request.
  create table event_outbox (
    id bigint generated always as identity not null, at timestamptz not null default clock_timestamp(),
    type text not null, object_id bigint, before text, after text, body json, request text
  ) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
    autovacuum_analyze_threshold = 10000);
  -- What is published could not be deleted otherwise. It costs nothing where nothing is decoded.
  alter table event_outbox replica identity full;
  -- Changes that are too many for one run.
  create table event_backlog (like event_outbox, primary key (id))
    with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);
  create index on event_backlog (object_id);
  -- Each partition has a primary key of its own: an inherited one can't be dropped by \`pg_restore --clean\`.
  create table events (
    position bigint not null, nonce bigint not null,
    type text not null, at timestamptz(3) not null, object_id bigint, body json, request text
  ) partition by range (position);
  -- The last event, and the last of those whose partitions were dropped: readers at these have missed nothing.
  create table event_state (
    is_only boolean primary key default true check (is_only), position bigint not null default 0, nonce bigint not null,
    dropped_position bigint not null, dropped_nonce bigint not null,
    leader text, moved_at timestamptz not null default now(), backlog_from bigint,
    log_time timestamptz not null default clock_timestamp(), timed_at timestamptz not null default clock_timestamp()
  ) with (fillfactor = 50);
  -- A reader of the beginning has missed nothing.
  insert into event_state (nonce, dropped_position, dropped_nonce)
    select nonce, 0, nonce from (select hashtextextended(gen_random_uuid()::text, 0) as nonce) as beginning`;

const rights = `
  revoke execute on function petstore_maintain_events, petstore_move_events from public;
  select petstore_protect_events(relation)
  from unnest('{events, event_outbox, event_backlog, event_state}'::regclass[]) as relation`;
