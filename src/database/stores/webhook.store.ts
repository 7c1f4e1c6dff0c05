import { LockMode, type MetadataStorage, raw } from '@mikro-orm/core';

import type { Id } from '../../domain/id.ts';
import type { Keyset, Slice } from '../../domain/page.ts';
import type { RowData } from '../../domain/store.ts';
import { WebhookAttempt } from '../../domain/webhooks/webhook-attempt.entity.ts';
import { WebhookEndpointChange } from '../../domain/webhooks/webhook-endpoint-change.entity.ts';
import { WebhookEndpoint } from '../../domain/webhooks/webhook-endpoint.entity.ts';
import {
  attemptList,
  type NewWebhookEndpoint,
  webhookHistoryList,
  webhookList,
  type WebhookStore,
} from '../../domain/webhooks/webhook.store.ts';
import { type Session, statementOf } from '../../platform/postgres/index.ts';
import type { WithEntities } from '../entity-manager.ts';
import { EntityTable } from '../sql/entity-table.ts';
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

const attribute = statementOf("select set_config('petstore.changed_by', $1, true)", 1, () => undefined, 'write');

const deleteSurplus = statementOf(
  `delete from webhook_attempts as attempt using webhook_endpoints as endpoint, lateral (
     select id from webhook_attempts where endpoint_id = endpoint.id order by id desc offset $1::int limit 1
   ) as newest
   where attempt.endpoint_id = endpoint.id and attempt.id <= newest.id`,
  0,
  () => undefined,
  'write',
);

export function createWebhookStore(
  metadata: MetadataStorage,
  withEntities: WithEntities,
): (session: Session) => WebhookStore {
  const attempts = new EntityTable(metadata.get(WebhookAttempt));
  const history = new EntityTable(metadata.get(WebhookEndpointChange));
  const made: MadeOnce = {
    reads: new TableReads(listSource(new EntityTable(metadata.get(WebhookEndpoint)), webhookList, {})),
    attempts: new TableReads(listSource(attempts, attemptList, {})),
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

  async attributeChangesTo(by: string): Promise<void> {
    await this.session.run(attribute, [by]);
  }

  async forgetRefusals(endpointId: Id): Promise<void> {
    const refused = { endpointId, refusals: { $gt: 0 } };
    await this.#made.withEntities(this.session, (em) => em.nativeUpdate(WebhookAttempt, refused, { refusals: 0 }));
  }

  async recordReplay(endpointId: Id, by: string, at: Date): Promise<void> {
    const entry = { endpointId, by, at, action: 'replayed', changes: {} } as const;
    await this.#made.withEntities(this.session, (em) => em.insert(WebhookEndpointChange, entry));
  }

  async recordAttempt(attempt: RowData<WebhookAttempt>): Promise<void> {
    await this.#made.withEntities(this.session, (em) => em.insert(WebhookAttempt, attempt));
  }

  attemptsPerEndpoint(ids: readonly Id[], keyset: Keyset<'ID'>): Promise<Slice<WebhookAttempt>[]> {
    return this.#made.attempts.pagePerParent(this.session, { property: 'endpointId', ids }, {}, keyset);
  }

  countAttemptsPerEndpoint(ids: readonly Id[]): Promise<number[]> {
    return this.#made.attempts.countPerParent(this.session, { property: 'endpointId', ids }, {});
  }

  historyPerEndpoint(ids: readonly Id[], keyset: Keyset<'ID'>): Promise<Slice<WebhookEndpointChange>[]> {
    return this.#made.history.pagePerParent(this.session, { property: 'endpointId', ids }, {}, keyset);
  }

  countHistoryPerEndpoint(ids: readonly Id[]): Promise<number[]> {
    return this.#made.history.countPerParent(this.session, { property: 'endpointId', ids }, {});
  }

  async deleteOldAttempts(before: Date, kept: number): Promise<void> {
    await this.#made.withEntities(this.session, (em) => em.nativeDelete(WebhookAttempt, { at: { $lt: before } }));
    await this.session.run(deleteSurplus, [kept]);
  }
}
