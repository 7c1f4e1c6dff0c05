import { LockMode, type MetadataStorage, raw } from '@mikro-orm/core';

import type { Id } from '../../domain/id.ts';
import type { RowData } from '../../domain/store.ts';
import { WebhookAttempt } from '../../domain/webhooks/webhook-attempt.entity.ts';
import { WebhookEndpointChange } from '../../domain/webhooks/webhook-endpoint-change.entity.ts';
import { WebhookEndpoint } from '../../domain/webhooks/webhook-endpoint.entity.ts';
import {
  attemptList,
  type NewWebhookEndpoint,
  type WebhookBacklog,
  webhookHistoryList,
  webhookList,
  type WebhookStore,
} from '../../domain/webhooks/webhook.store.ts';
import { commandOf, type Session, statementOf } from '../../platform/postgres/index.ts';
import type { WithEntities } from '../entity-manager.ts';
import type { Conditions } from '../sql/conditions.ts';
import { EntityTable } from '../sql/entity-table.ts';
import { millisOf } from '../sql/value-types.ts';
import { listSource } from '../sql/list-source.ts';
import { TableReads } from '../sql/table-reads.ts';
import { ReadOnlyStore } from '../sql/table-store.ts';

type Reads = TableReads<WebhookEndpoint, typeof webhookList>;
type AttemptReads = TableReads<WebhookAttempt, typeof attemptList>;
type HistoryReads = TableReads<WebhookEndpointChange, typeof webhookHistoryList>;

interface MadeOnce {
  readonly reads: Reads;
  readonly attempts: AttemptReads;
  readonly history: HistoryReads;
  readonly withEntities: WithEntities;
}

const deleteSurplus = commandOf(
  `delete from webhook_attempts as attempt using webhook_endpoints as endpoint, lateral (
     select id from webhook_attempts where endpoint_id = endpoint.id order by id desc offset $1::int limit 1
   ) as newest
   where attempt.endpoint_id = endpoint.id and attempt.id <= newest.id`,
);

const deleteHistory = commandOf(
  `delete from webhook_endpoint_history where endpoint_id in (
     select endpoint_id from webhook_endpoint_history where action = 'deleted' and at < $1::timestamptz)`,
);

const backlogs = statementOf<readonly [Id, WebhookBacklog]>(
  `select endpoint.id::text, waiting.events, ${millisOf('waiting.oldest')}
   from webhook_endpoints as endpoint cross join lateral (
     select count(*) as events, (array_agg(at order by position))[1] as oldest from (
       select position, at from (
         select position, at, type from events
         where position > split_part(endpoint.position, ':', 1)::bigint order by position limit $3::int
       ) as looked
       where endpoint.event_types is null or type = any(endpoint.event_types) or type = 'store.resync'
       order by position limit $2::int
     ) as counted
   ) as waiting
   where endpoint.id = any($1::bigint[])`,
  3,
  ([id, events, oldest]) => [
    id as Id,
    { events: Number(events), oldestAt: typeof oldest === 'string' ? new Date(Number(oldest)) : null },
  ],
);

function failedAttempts(attempts: EntityTable): Conditions {
  const status = attempts.column('status');
  const sql = (): string => `(${status} is null or ${status} not between 200 and 299)`;
  return [{ kind: 'filter', template: 'failedOnly', value: true, sql }];
}

export function createWebhookStore(
  metadata: MetadataStorage,
  withEntities: WithEntities,
): (session: Session) => WebhookStore {
  const attempts = new EntityTable(metadata.get(WebhookAttempt));
  const history = new EntityTable(metadata.get(WebhookEndpointChange));
  const made: MadeOnce = {
    reads: new TableReads(listSource(new EntityTable(metadata.get(WebhookEndpoint)), webhookList, {})),
    attempts: new TableReads(
      listSource(
        attempts,
        attemptList,
        {},
        {
          failedOnly: ({ failedOnly }) => (failedOnly === true ? failedAttempts(attempts) : []),
        },
      ),
    ),
    history: new TableReads(listSource(history, webhookHistoryList, {})),
    withEntities,
  };
  return (session) => new SessionWebhooks(session, made);
}

class SessionWebhooks extends ReadOnlyStore<WebhookEndpoint, typeof webhookList> implements WebhookStore {
  readonly #made: MadeOnce;

  constructor(session: Session, made: MadeOnce) {
    super(session, made.reads);
    this.#made = made;
  }

  get attempts(): ReadOnlyStore<WebhookAttempt, typeof attemptList> {
    return new ReadOnlyStore(this.session, this.#made.attempts);
  }

  get history(): ReadOnlyStore<WebhookEndpointChange, typeof webhookHistoryList> {
    return new ReadOnlyStore(this.session, this.#made.history);
  }

  insert(row: NewWebhookEndpoint): Promise<Id> {
    return this.#made.withEntities(this.session, (em) => em.insert(WebhookEndpoint, row));
  }

  async lockInsertions(): Promise<void> {
    await this.#made.withEntities(this.session, (em) =>
      em
        .getConnection()
        .execute('lock table webhook_endpoints in share row exclusive mode', [], 'run', em.getTransactionContext()),
    );
  }

  async update(id: Id, changes: Partial<RowData<WebhookEndpoint>>): Promise<void> {
    await this.#made.withEntities(this.session, (em) => em.nativeUpdate(WebhookEndpoint, { id }, changes));
  }

  async endLease(id: Id): Promise<void> {
    const lease = { fence: raw('fence + 1'), holder: null, leasedUntil: null };
    await this.#made.withEntities(this.session, (em) => em.nativeUpdate(WebhookEndpoint, { id }, lease));
  }

  lock(id: Id): Promise<WebhookEndpoint | undefined> {
    return this.#made.withEntities(this.session, async (em) => {
      const lockMode = LockMode.PESSIMISTIC_WRITE;
      return (await em.findOne(WebhookEndpoint, { id }, { lockMode })) ?? undefined;
    });
  }

  delete(id: Id): Promise<boolean> {
    return this.#made.withEntities(this.session, async (em) => (await em.nativeDelete(WebhookEndpoint, { id })) > 0);
  }

  async recordReplay(endpointId: Id, by: string, at: Date): Promise<void> {
    const entry = { endpointId, by, at, action: 'replayed', changes: {} } as const;
    await this.#made.withEntities(this.session, (em) => em.insert(WebhookEndpointChange, entry));
  }

  async recordAttempt(attempt: RowData<WebhookAttempt>): Promise<void> {
    await this.#made.withEntities(this.session, (em) => em.insert(WebhookAttempt, attempt));
  }

  async backlogs(
    ids: readonly Id[],
    { counted, looked }: { readonly counted: number; readonly looked: number },
  ): Promise<WebhookBacklog[]> {
    const found = new Map(await this.session.run(backlogs, [ids, counted, looked]));
    return ids.map((id) => found.get(id) ?? { events: 0, oldestAt: null });
  }

  async deleteOld(before: Date, kept: number): Promise<void> {
    await this.#made.withEntities(this.session, (em) => em.nativeDelete(WebhookAttempt, { at: { $lt: before } }));
    await this.session.run(deleteSurplus, [kept]);
    await this.session.run(deleteHistory, [before.toISOString()]);
  }
}
