import type { Id } from '../id.ts';
import type { FilterRequest } from '../filter.ts';
import { type List, sortedById } from '../page.ts';
import { anyRule, searchTextRule } from '../rules.ts';
import type { ReadStore, RowData, WriteStore } from '../store.ts';
import { WebhookAttempt } from './webhook-attempt.entity.ts';
import { WebhookEndpointChange } from './webhook-endpoint-change.entity.ts';
import { WebhookEndpoint } from './webhook-endpoint.entity.ts';

export const webhookSorting = sortedById(WebhookEndpoint, 'webhookEndpoints', {});
export const webhookList = {
  filter: { ownerId: { property: 'ownerId', comparison: 'equals', rule: anyRule<Id>() } },
  sorting: webhookSorting,
} satisfies List<WebhookEndpoint>;

export const attemptList = {
  filter: {
    /** Those that weren't answered by 2xx. */
    failedOnly: { rule: anyRule<boolean>() },
    eventId: { property: 'eventId', comparison: 'equals', rule: searchTextRule },
  },
  sorting: sortedById(WebhookAttempt, 'webhookAttempts', {}),
} satisfies List<WebhookAttempt>;
export type AttemptFilterRequest = FilterRequest<typeof attemptList.filter>;

/** Attempts are kept for so long, of an endpoint the last so many; so is the history of one that was deleted. */
export const keptAttempts = { millis: 7 * 86_400_000, count: 1_000 };

export interface WebhookBacklog {
  /** Of the types that it wants. */
  readonly events: number;
  /** Null without any. */
  readonly oldestAt: Date | null;
}

export const webhookHistoryList = { filter: {}, sorting: sortedById(WebhookEndpointChange, 'webhookHistory', {}) };

export type NewWebhookEndpoint = Pick<
  RowData<WebhookEndpoint>,
  'ownerId' | 'url' | 'description' | 'eventTypes' | 'isThin' | 'maxInFlight' | 'createdAt' | 'signingKey' | 'position'
>;

export interface WebhookStore
  extends ReadStore<WebhookEndpoint, typeof webhookList>, Pick<WriteStore<WebhookEndpoint, never>, 'lock' | 'delete'> {
  readonly attempts: Pick<ReadStore<WebhookAttempt, typeof attemptList>, 'pagePerParent' | 'countPerParent'>;
  readonly history: Pick<
    ReadStore<WebhookEndpointChange, typeof webhookHistoryList>,
    'pagePerParent' | 'countPerParent'
  >;
  /** Returns its id. Endpoints that other transactions insert are waited for, so that a count before it is right. */
  insert(row: NewWebhookEndpoint): Promise<Id>;
  /** Lets no other transaction insert until this one ends. */
  lockInsertions(): Promise<void>;
  update(id: Id, changes: Partial<RowData<WebhookEndpoint>>): Promise<void>;
  /** The process that delivers to it begins anew, with what it is then; what that process has under way isn't saved. */
  endLease(id: Id): Promise<void>;
  recordReplay(id: Id, by: string, at: Date): Promise<void>;
  recordAttempt(attempt: RowData<WebhookAttempt>): Promise<void>;
  /** Of each endpoint: at most so many are counted, among so many events after its position. */
  backlogs(
    ids: readonly Id[],
    limits: { readonly counted: number; readonly looked: number },
  ): Promise<WebhookBacklog[]>;
  /**
   * Deletes attempts from before that instant, and all but the last of each endpoint, so many; and the history of
   * endpoints that were deleted before that instant.
   */
  deleteOld(before: Date, kept: number): Promise<void>;
}
