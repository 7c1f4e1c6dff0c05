import { describeChanges } from '../../domain/access/api-key-change.entity.ts';
import { eventIdOf } from '../../domain/events/event.ts';
import { resultOf, type WebhookAttempt } from '../../domain/webhooks/webhook-attempt.entity.ts';
import type { WebhookEndpointChange } from '../../domain/webhooks/webhook-endpoint-change.entity.ts';
import { stateOf, type WebhookEndpoint } from '../../domain/webhooks/webhook-endpoint.entity.ts';
import { details, shown, table } from '../text-table.ts';

/** An attempt that may not be stored yet. */
type MadeAttempt = Pick<WebhookAttempt, 'eventId' | 'at' | 'durationMillis'> &
  Partial<Pick<WebhookAttempt, 'status' | 'failure' | 'refusals'>>;

/** An endpoint in JSON; `position` is the id of the last event that is done. */
export function endpointAsJson(endpoint: WebhookEndpoint): object {
  const { id, url, description, eventTypes, isThin, maxInFlight, createdAt, position } = endpoint;
  const { failingSince, nextAttemptAt, disabledReason, previousSecretExpiresAt } = endpoint;
  return {
    id,
    url,
    description,
    eventTypes,
    isThin,
    maxInFlight,
    createdAt,
    state: stateOf(endpoint),
    failingSince,
    nextAttemptAt,
    disabledReason,
    previousSecretExpiresAt,
    position: eventIdOf(position),
  };
}

export function attemptAsJson(attempt: MadeAttempt): object {
  const { eventId, at, status, failure, durationMillis } = attempt;
  return { eventId, at, result: resultOf(attempt), status, failure, durationMillis };
}

export function changeAsJson({ at, by, action, changes }: WebhookEndpointChange): object {
  return { at, by, action, changes };
}

/** One line about one endpoint. */
export function describeEndpoint(endpoint: WebhookEndpoint): string {
  return `Webhook endpoint ${endpoint.id} (${endpoint.url}): ${typesOf(endpoint)}, ${describeState(endpoint)}.`;
}

/** One line about a test. */
export function describeTest(attempt: MadeAttempt): string {
  const { status, failure, durationMillis, eventId } = attempt;
  return `${eventId}: ${status ?? failure} in ${durationMillis} ms (${resultOf(attempt)}).`;
}

/** Everything about one endpoint, a line each. */
export function endpointDetails(endpoint: WebhookEndpoint, latest: WebhookAttempt | undefined): string {
  const { previousSecretExpiresAt, isThin, maxInFlight, createdAt, position } = endpoint;
  return details([
    ...headings.map((heading, index) => [heading, rowOf(endpoint)[index] ?? ''] as const),
    ['THIN', isThin ? 'on' : 'off'],
    ['IN FLIGHT', `at most ${maxInFlight}`],
    ['CREATED', shown(createdAt)],
    ['OLD SECRET', previousSecretExpiresAt ? `signed with until ${shown(previousSecretExpiresAt)}` : 'none'],
    ['POSITION', eventIdOf(position)],
    ['LATEST', latest === undefined ? 'no attempt' : `${shown(latest.at)}, ${describeTest(latest)}`],
  ]);
}

/** All endpoints, a line each. */
export function endpointTable(endpoints: readonly WebhookEndpoint[]): string {
  return table(headings, endpoints.map(rowOf));
}

/** Attempts, a line each. */
export function attemptTable(attempts: readonly WebhookAttempt[]): string {
  const rows = attempts.map((attempt) => {
    const { at, eventId, status, failure, durationMillis } = attempt;
    return [shown(at), resultOf(attempt), String(status ?? failure), String(durationMillis), eventId];
  });
  return table(['AT', 'RESULT', 'STATUS', 'MS', 'EVENT'], rows);
}

/** The changes of an endpoint, a line each. */
export function historyTable(changes: readonly WebhookEndpointChange[]): string {
  const rows = changes.map((change) => [
    shown(change.at),
    change.by,
    change.action,
    describeChanges(change).join('; '),
  ]);
  return table(['AT', 'BY', 'ACTION', 'CHANGES'], rows);
}

const headings = ['ID', 'URL', 'TYPES', 'STATE', 'DESCRIPTION'];

function rowOf(endpoint: WebhookEndpoint): string[] {
  const { id, url, description } = endpoint;
  return [id, url, typesOf(endpoint), describeState(endpoint), description ?? ''];
}

function typesOf({ eventTypes }: WebhookEndpoint): string {
  return eventTypes?.join(',') ?? 'all types';
}

function describeState(endpoint: WebhookEndpoint): string {
  const { failingSince, nextAttemptAt, disabledReason } = endpoint;
  const state = stateOf(endpoint);
  if (state === 'disabled') return `disabled: ${disabledReason === 'GONE' ? 'it responded 410' : 'failed for days'}`;
  if (state === 'failing') return `failing since ${shown(failingSince)}, next attempt ${shown(nextAttemptAt)}`;
  return state;
}
