import type { Id } from '../id.ts';
import { sortedById, type Keyset, type Slice } from '../page.ts';
import type { ReadStore, RowData, WriteStore } from '../store.ts';
import { WebhookAttempt } from './webhook-attempt.entity.ts';
import { WebhookEndpointChange } from './webhook-endpoint-change.entity.ts';
import { WebhookEndpoint } from './webhook-endpoint.entity.ts';

export const webhookSorting = sortedById(WebhookEndpoint, 'webhookEndpoints', {});
export const webhookList = { filter: {}, sorting: webhookSorting };

export const attemptSorting = sortedById(WebhookAttempt, 'webhookAttempts', {});
export const attemptList = { filter: {}, sorting: attemptSorting };

export const webhookHistorySorting = sortedById(WebhookEndpointChange, 'webhookHistory', {});
export const webhookHistoryList = { filter: {}, sorting: webhookHistorySorting };

export type NewWebhookEndpoint = Pick<
  RowData<WebhookEndpoint>,
  'url' | 'description' | 'eventTypes' | 'isThin' | 'maxInFlight' | 'createdAt' | 'position'
>;

export interface WebhookStore
  extends ReadStore<WebhookEndpoint, typeof webhookList>, Pick<WriteStore<WebhookEndpoint, never>, 'lock' | 'delete'> {
  /** Returns its id. Endpoints that other transactions insert are waited for, so that a count before it is right. */
  insert(row: NewWebhookEndpoint): Promise<Id>;
  /** Lets no other transaction insert until this one ends. */
  lockInsertions(): Promise<void>;
  update(id: Id, changes: Partial<RowData<WebhookEndpoint>>): Promise<void>;
  /** The process that delivers to it begins anew, with what it is then; what that process has under way isn't saved. */
  endLease(id: Id): Promise<void>;
  /** Sets the actor for the changes of this store's transaction. */
  attributeChangesTo(by: string): Promise<void>;
  /** Events that were refused are sent like others. */
  forgetRefusals(id: Id): Promise<void>;
  recordReplay(id: Id, by: string, at: Date): Promise<void>;
  recordAttempt(attempt: RowData<WebhookAttempt>): Promise<void>;
  /** The same page of its attempts for each endpoint. */
  attemptsPerEndpoint(ids: readonly Id[], keyset: Keyset<'ID'>): Promise<Slice<WebhookAttempt>[]>;
  countAttemptsPerEndpoint(ids: readonly Id[]): Promise<number[]>;
  historyPerEndpoint(ids: readonly Id[], keyset: Keyset<'ID'>): Promise<Slice<WebhookEndpointChange>[]>;
  countHistoryPerEndpoint(ids: readonly Id[]): Promise<number[]>;
  /** Deletes attempts from before that instant, and all but the last of each endpoint, so many. */
  deleteOldAttempts(before: Date, kept: number): Promise<void>;
}
