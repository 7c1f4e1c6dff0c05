import { eventIdOf } from '../../domain/events/event.ts';
import { resultOf, type WebhookAttempt } from '../../domain/webhooks/webhook-attempt.entity.ts';
import type { DisabledReason, WebhookEndpoint, WebhookState } from '../../domain/webhooks/webhook-endpoint.entity.ts';
import type { WebhookBacklog } from '../../domain/webhooks/webhook.store.ts';
import { details, shown, table } from '../text-table.ts';

/** An attempt that may not be stored yet. */
type MadeAttempt = Pick<WebhookAttempt, 'eventId' | 'at' | 'durationMillis'> &
  Partial<Pick<WebhookAttempt, 'status' | 'failure' | 'cause' | 'refusals'>>;

/** An endpoint with what is shown beside its row. */
export interface ShownEndpoint {
  readonly endpoint: WebhookEndpoint;
  readonly state: WebhookState;
  readonly backlog: WebhookBacklog;
}

/** An endpoint in JSON; `position` is the id of the last event that is done. */
export function endpointAsJson({ endpoint, state, backlog }: ShownEndpoint): object {
  const { id, ownerId, url, description, eventTypes, isThin, maxInFlight, createdAt, position } = endpoint;
  const { failingSince, nextAttemptAt, disabledReason, previousSecretExpiresAt } = endpoint;
  return {
    id,
    ownerId,
    url,
    description,
    eventTypes,
    isThin,
    maxInFlight,
    createdAt,
    state,
    failingSince,
    nextAttemptAt,
    disabledReason,
    previousSecretExpiresAt,
    position: eventIdOf(position),
    backlog,
  };
}

export function attemptAsJson(attempt: MadeAttempt): object {
  const { eventId, at, status, failure, cause, durationMillis } = attempt;
  return { eventId, at, result: resultOf(attempt), status, failure, cause, durationMillis };
}

export function describeEndpoint(shownEndpoint: ShownEndpoint): string {
  const { endpoint } = shownEndpoint;
  return `Webhook endpoint ${endpoint.id} (${endpoint.url}): ${typesOf(endpoint)}, ${describeState(shownEndpoint)}.`;
}

export function describeTest(attempt: MadeAttempt): string {
  const { durationMillis, eventId } = attempt;
  return `${eventId}: ${responseOf(attempt)} in ${durationMillis} ms (${resultOf(attempt)}).`;
}

export function endpointDetails(shownEndpoint: ShownEndpoint, latest: WebhookAttempt | undefined): string {
  const { endpoint, backlog } = shownEndpoint;
  const { previousSecretExpiresAt, isThin, maxInFlight, createdAt, position, ownerId } = endpoint;
  return details([
    ...headings.map((heading, index) => [heading, rowOf(shownEndpoint)[index] ?? ''] as const),
    ['THIN', isThin ? 'on' : 'off'],
    ['IN FLIGHT', `at most ${maxInFlight}`],
    ['CREATED', shown(createdAt)],
    ['OLD SECRET', previousSecretExpiresAt ? `signed with until ${shown(previousSecretExpiresAt)}` : 'none'],
    ['KEY', ownerId ?? 'administrators'],
    ['POSITION', eventIdOf(position)],
    ['BACKLOG', backlog.oldestAt === null ? 'none' : `${backlog.events} events, since ${shown(backlog.oldestAt)}`],
    ['LATEST', latest === undefined ? 'no attempt' : `${shown(latest.at)}, ${describeTest(latest)}`],
  ]);
}

export function endpointTable(endpoints: readonly ShownEndpoint[]): string {
  return table(headings, endpoints.map(rowOf));
}

export function attemptTable(attempts: readonly WebhookAttempt[]): string {
  const rows = attempts.map((attempt) => {
    const { at, eventId, durationMillis } = attempt;
    return [shown(at), resultOf(attempt), responseOf(attempt), String(durationMillis), eventId];
  });
  return table(['AT', 'RESULT', 'STATUS', 'MS', 'EVENT'], rows);
}

const headings = ['ID', 'URL', 'TYPES', 'STATE', 'DESCRIPTION'];

function rowOf(shownEndpoint: ShownEndpoint): string[] {
  const { endpoint } = shownEndpoint;
  const { id, url, description } = endpoint;
  return [id, url, typesOf(endpoint), describeState(shownEndpoint), description ?? ''];
}

function typesOf({ eventTypes }: WebhookEndpoint): string {
  return eventTypes?.join(',') ?? 'all types';
}

const disabledWords: Readonly<Record<DisabledReason, string>> = {
  GONE: 'it responded 410',
  FAILED_FOR_DAYS: 'failed for days',
  KEY_ENDED: 'its key has ended',
};

function describeState({ endpoint, state }: ShownEndpoint): string {
  const { failingSince, nextAttemptAt, disabledReason } = endpoint;
  if (disabledReason) return `disabled: ${disabledWords[disabledReason]}`;
  if (state === 'held') return 'held: its signing key is not set';
  if (state === 'failing') return `failing since ${shown(failingSince)}, next attempt ${shown(nextAttemptAt)}`;
  return state;
}

function responseOf({ status, failure, cause }: MadeAttempt): string {
  return [status ?? failure, cause].filter((each) => each !== null && each !== undefined).join(' ');
}
