import { randomBytes } from 'node:crypto';

import { resultOf } from '../../domain/webhooks/webhook-attempt.entity.ts';
import type { WebhookEndpoint } from '../../domain/webhooks/webhook-endpoint.entity.ts';
import type { WebhookBacklog } from '../../domain/webhooks/webhook.store.ts';
import type { WebhookChanges } from '../../domain/webhooks/webhook-fields.ts';
import type { WebhookService, WebhookWithSecret } from '../../domain/webhooks/webhook.service.ts';
import { allOf, command, type Command, onlyOf, type Output, type StandaloneCommand } from '../command-line.ts';
import { historyOf } from '../history.ts';
import { needed, UsageError, type ValuesOf } from '../options.ts';
import { after, all, description, maxInFlight, overlap, thin, types, url } from './options.ts';
import {
  attemptAsJson,
  attemptTable,
  describeEndpoint,
  describeTest,
  endpointAsJson,
  endpointDetails,
  endpointTable,
  type ShownEndpoint,
} from './output.ts';

const settings = { description, types, thin, 'max-in-flight': maxInFlight };

const signingKeyBytes = 32;

export const commands: Readonly<Record<string, Command<WebhookService> | StandaloneCommand>> = {
  create: command({
    summary: 'Creates an endpoint and prints its secret; it cannot be shown again',
    options: { url: needed(url), ...settings, after },
    run: async (webhooks: WebhookService, given) =>
      shownWithSecret(webhooks, await webhooks.create({ url: given.url, ...settingsOf(given), after: given.after })),
  }),
  list: command({
    summary: 'Lists all endpoints',
    run: async (webhooks: WebhookService) => {
      const endpoints = await shownOf(webhooks, await allOf((page) => webhooks.list(page)));
      return { text: endpointTable(endpoints), json: endpoints.map(endpointAsJson) };
    },
  }),
  show: command({
    summary: 'Shows an endpoint, and what has become of its latest attempt',
    id: 'needed',
    run: async (webhooks: WebhookService, { id }) => {
      const endpoint = await webhooks.get(id);
      const { rows } = onlyOf(await webhooks.attempts.listPerParent([endpoint.id], { first: 1, after: undefined }));
      const shown = onlyOf(await shownOf(webhooks, [endpoint]));
      return { text: endpointDetails(shown, rows[0]), json: endpointAsJson(shown) };
    },
  }),
  attempts: command({
    summary: 'Lists the attempts of an endpoint, at most 1,000 of 7 days, latest first',
    id: 'needed',
    run: async (webhooks: WebhookService, { id }) => {
      const endpoint = await webhooks.get(id);
      const attempts = await allOf(async (page) => onlyOf(await webhooks.attempts.listPerParent([endpoint.id], page)));
      return { text: attemptTable(attempts), json: attempts.map(attemptAsJson) };
    },
  }),
  history: command({
    summary: 'Shows the changes of an endpoint, when and by whom, latest first',
    id: 'needed',
    run: (webhooks: WebhookService, { id }) => historyOf(webhooks, id),
  }),
  update: command({
    summary: 'Changes an endpoint; an empty description removes it',
    id: 'needed',
    options: { url, ...settings },
    needsOption: true,
    run: async (webhooks: WebhookService, { id, ...given }) =>
      changed(webhooks, await webhooks.update(id, { url: given.url, ...settingsOf(given) })),
  }),
  pause: command({
    summary: 'Sends an endpoint nothing until it is resumed',
    id: 'needed',
    run: async (webhooks: WebhookService, { id }) => changed(webhooks, await webhooks.pause(id)),
  }),
  resume: command({
    summary: 'Goes on with an endpoint where it was paused, disabled or waits to be tried again',
    id: 'needed',
    run: async (webhooks: WebhookService, { id }) => changed(webhooks, await webhooks.resume(id)),
  }),
  rotate: command({
    summary:
      'Gives an endpoint a new secret and prints it; it cannot be shown again, and the old one is signed with, too, for the overlap',
    id: 'possible',
    options: { all, overlap },
    check: (given) => {
      if ((given.id === '') !== (given.all === true))
        throw new UsageError('rotate needs the id of an endpoint, or --all.');
    },
    run: async (webhooks: WebhookService, { id, overlap: seconds }) =>
      id === '' ? rotateAll(webhooks, seconds) : shownWithSecret(webhooks, await webhooks.rotateSecret(id, seconds)),
  }),
  test: command({
    summary: 'Sends the event webhook.test now, and shows the response; the exit code is 1 unless it was 2xx',
    id: 'needed',
    run: async (webhooks: WebhookService, { id }) => {
      const attempt = await webhooks.test(id);
      const isFailure = resultOf(attempt) !== 'delivered';
      return { text: describeTest(attempt), json: attemptAsJson(attempt), isFailure };
    },
  }),
  replay: command({
    summary: 'Sends an endpoint once more what has happened after an event',
    id: 'needed',
    options: { after: needed(after) },
    run: async (webhooks: WebhookService, given) => changed(webhooks, await webhooks.replay(given.id, given.after)),
  }),
  delete: command({
    summary: 'Deletes an endpoint; its history stays for 7 days',
    id: 'needed',
    run: async (webhooks: WebhookService, { id }) => {
      const deleted = await webhooks.delete(id);
      return { text: `Webhook endpoint ${deleted} is deleted.`, json: { id: deleted } };
    },
  }),
  secret: {
    summary: 'Makes a WEBHOOK_SIGNING_KEY, without a database',
    runAlone: () => {
      const key = randomBytes(signingKeyBytes).toString('base64');
      const note = 'Set it as WEBHOOK_SIGNING_KEY for every process and for this command, and keep it safe.';
      return { text: key, note, json: { signingKey: key } };
    },
  },
};

async function rotateAll(webhooks: WebhookService, seconds: number | undefined): Promise<Output> {
  const rotated: WebhookWithSecret[] = [];
  for (const endpoint of await allOf((page) => webhooks.list(page)))
    rotated.push(await webhooks.rotateSecret(endpoint.id, seconds));
  return {
    text: rotated.map(({ webhookEndpoint, secret }) => `${webhookEndpoint.id} ${secret}`).join('\n'),
    note: "Keep the secrets safe: they can't be shown again.",
    json: rotated.map(({ webhookEndpoint: { id }, secret }) => ({ id, secret })),
  };
}

async function shownWithSecret(
  webhooks: WebhookService,
  { webhookEndpoint, secret }: WebhookWithSecret,
): Promise<Output> {
  const shown = onlyOf(await shownOf(webhooks, [webhookEndpoint]));
  return {
    text: secret,
    note: `${describeEndpoint(shown)} Keep the secret safe: it can't be shown again.`,
    json: { ...endpointAsJson(shown), secret },
  };
}

async function shownOf(webhooks: WebhookService, endpoints: readonly WebhookEndpoint[]): Promise<ShownEndpoint[]> {
  const backlogs = await webhooks.backlogs(endpoints.map(({ id }) => id));
  return endpoints.map((endpoint, index) => ({
    endpoint,
    state: webhooks.stateOf(endpoint),
    backlog: backlogs[index] as WebhookBacklog,
  }));
}

async function changed(webhooks: WebhookService, endpoint: WebhookEndpoint): Promise<Output> {
  const shown = onlyOf(await shownOf(webhooks, [endpoint]));
  return { text: describeEndpoint(shown), json: endpointAsJson(shown) };
}

function settingsOf(given: ValuesOf<typeof settings>): Omit<WebhookChanges, 'url'> {
  return {
    description: given.description === '' ? null : given.description,
    eventTypes: given.types,
    isThin: given.thin === undefined ? undefined : given.thin === 'on',
    maxInFlight: given['max-in-flight'],
  };
}
