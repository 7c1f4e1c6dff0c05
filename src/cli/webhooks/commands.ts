import { randomBytes } from 'node:crypto';

import { eventTypes, type EventType } from '../../domain/events/event.ts';
import { parseId } from '../../domain/id.ts';
import { resultOf } from '../../domain/webhooks/webhook-attempt.entity.ts';
import type { WebhookEndpoint } from '../../domain/webhooks/webhook-endpoint.entity.ts';
import type { WebhookBacklog } from '../../domain/webhooks/webhook.store.ts';
import type { WebhookChanges } from '../../domain/webhooks/webhook-fields.ts';
import type { WebhookService, WebhookWithSecret } from '../../domain/webhooks/webhook.service.ts';
import {
  allOf,
  type Command,
  type CommandWork as WorkOf,
  onlyOf,
  type Output,
  type StandaloneCommand,
} from '../command-line.ts';
import { choiceOf, choicesOf, durationOf, numberOf, required, UsageError } from '../option-values.ts';
import {
  attemptAsJson,
  attemptTable,
  changeAsJson,
  describeEndpoint,
  describeTest,
  endpointAsJson,
  endpointDetails,
  endpointTable,
  historyTable,
  type ShownEndpoint,
} from './output.ts';

type OptionName = 'url' | 'description' | 'types' | 'thin' | 'max-in-flight' | 'after' | 'overlap';

/** Options without a value. */
type Flag = 'all';
export const flags: ReadonlySet<string> = new Set<Flag>(['all']);

/** The parsed options of a command. */
type OptionValues = Readonly<Partial<Record<OptionName, string> & Record<Flag, boolean>>>;

type CommandWork = WorkOf<WebhookService>;

const settings = '[--description TEXT] [--types pet.created,pet.updated|all] [--thin on|off] [--max-in-flight 4]';

/** The bytes of a signing key. */
const signingKeyBytes = 32;

/** The commands, in the order of the help. */
export const commands: Readonly<Record<string, Command<WebhookService, OptionValues> | StandaloneCommand>> = {
  create: {
    summary: 'Creates an endpoint and prints its secret; it cannot be shown again',
    usage: `--url URL ${settings} [--after EVENT]`,
    prepare: create,
  },
  list: {
    summary: 'Lists all endpoints',
    usage: '',
    prepare: () => async (webhooks) => {
      const endpoints = await shownOf(webhooks, await allOf((page) => webhooks.list(page)));
      return { text: endpointTable(endpoints), json: endpoints.map(endpointAsJson) };
    },
  },
  show: {
    summary: 'Shows an endpoint, and what has become of its latest attempt',
    usage: 'ID',
    prepare: (_values, id) => async (webhooks) => {
      const endpoint = await webhooks.get(id);
      const { rows } = onlyOf(await webhooks.attempts.listPerParent([endpoint.id], { first: 1, after: undefined }));
      const shown = onlyOf(await shownOf(webhooks, [endpoint]));
      return { text: endpointDetails(shown, rows[0]), json: endpointAsJson(shown) };
    },
  },
  attempts: {
    summary: 'Lists the attempts of an endpoint, at most 1,000 of 7 days, latest first',
    usage: 'ID',
    prepare: (_values, id) => async (webhooks) => {
      const endpoint = await webhooks.get(id);
      const attempts = await allOf(async (page) => onlyOf(await webhooks.attempts.listPerParent([endpoint.id], page)));
      return { text: attemptTable(attempts), json: attempts.map(attemptAsJson) };
    },
  },
  history: {
    summary: 'Shows the changes of an endpoint, when and by whom, latest first',
    usage: 'ID',
    prepare: (_values, id) => (webhooks) => history(webhooks, id),
  },
  update: {
    summary: 'Changes an endpoint; an empty description removes it',
    usage: `ID [--url URL] ${settings}`,
    prepare: update,
  },
  pause: {
    summary: 'Sends an endpoint nothing until it is resumed',
    usage: 'ID',
    prepare: (_values, id) => async (webhooks) => changed(webhooks, await webhooks.pause(id)),
  },
  resume: {
    summary: 'Goes on with an endpoint where it was paused, disabled or waits to be tried again',
    usage: 'ID',
    prepare: (_values, id) => async (webhooks) => changed(webhooks, await webhooks.resume(id)),
  },
  rotate: {
    summary:
      'Gives an endpoint a new secret and prints it; it cannot be shown again, and the old one is signed with, too, for the overlap',
    usage: '[ID | --all] [--overlap 24h]',
    prepare: rotate,
  },
  test: {
    summary: 'Sends the event webhook.test now, and shows the response; the exit code is 1 unless it was 2xx',
    usage: 'ID',
    prepare: (_values, id) => async (webhooks) => {
      const attempt = await webhooks.test(id);
      const isFailure = resultOf(attempt) !== 'delivered';
      return { text: describeTest(attempt), json: attemptAsJson(attempt), isFailure };
    },
  },
  replay: {
    summary: 'Sends an endpoint once more what has happened after an event',
    usage: 'ID --after EVENT',
    prepare: (values, id) => {
      const after = required('after', values);
      return async (webhooks) => changed(webhooks, await webhooks.replay(id, after));
    },
  },
  delete: {
    summary: 'Deletes an endpoint; its history stays for 7 days',
    usage: 'ID',
    prepare: (_values, id) => async (webhooks) => {
      const deleted = await webhooks.delete(id);
      return { text: `Webhook endpoint ${deleted} is deleted.`, json: { id: deleted } };
    },
  },
  secret: {
    summary: 'Makes a WEBHOOK_SIGNING_KEY, without a database',
    usage: '',
    run: () => {
      const key = randomBytes(signingKeyBytes).toString('base64');
      const note = 'Set it as WEBHOOK_SIGNING_KEY for every process and for this command, and keep it safe.';
      return { text: key, note, json: { signingKey: key } };
    },
  },
};

function create(values: OptionValues): CommandWork {
  const input = { url: required('url', values), ...changesOf(values), after: values.after };
  return async (webhooks) => shownWithSecret(webhooks, await webhooks.create(input));
}

function update(values: OptionValues, id: string): CommandWork {
  const changes = { url: values.url, ...changesOf(values) };
  if (Object.values(changes).every((change) => change === undefined)) {
    throw new UsageError('at least one of --url, --description, --types, --thin and --max-in-flight is needed.');
  }
  return async (webhooks) => changed(webhooks, await webhooks.update(id, changes));
}

function rotate({ overlap, all }: OptionValues, id: string): CommandWork {
  const seconds = overlap === undefined ? undefined : durationOf('overlap', overlap, 0);
  if ((id === '') !== (all === true)) throw new UsageError('rotate needs the id of an endpoint, or --all.');
  if (id !== '') return async (webhooks) => shownWithSecret(webhooks, await webhooks.rotateSecret(id, seconds));
  return async (webhooks) => {
    const rotated: WebhookWithSecret[] = [];
    for (const endpoint of await allOf((page) => webhooks.list(page)))
      rotated.push(await webhooks.rotateSecret(endpoint.id, seconds));
    return {
      text: rotated.map(({ webhookEndpoint, secret }) => `${webhookEndpoint.id} ${secret}`).join('\n'),
      note: "Keep the secrets safe: they can't be shown again.",
      json: rotated.map(({ webhookEndpoint: { id: rotatedId }, secret }) => ({ id: rotatedId, secret })),
    };
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

async function history(webhooks: WebhookService, id: string): Promise<Output> {
  const key = parseId(id);
  const changes =
    key === undefined ? [] : await allOf(async (page) => onlyOf(await webhooks.history.listPerParent([key], page)));
  // A deleted endpoint still has a history.
  if (changes.length === 0) await webhooks.get(id);
  return { text: historyTable(changes), json: changes.map(changeAsJson) };
}

async function changed(webhooks: WebhookService, endpoint: WebhookEndpoint): Promise<Output> {
  const shown = onlyOf(await shownOf(webhooks, [endpoint]));
  return { text: describeEndpoint(shown), json: endpointAsJson(shown) };
}

function changesOf(values: OptionValues): Omit<WebhookChanges, 'url'> {
  const { description, types, thin } = values;
  const maxInFlight = values['max-in-flight'];
  return {
    description: description === '' ? null : description,
    eventTypes: types === undefined ? undefined : typesOf(types),
    isThin: thin === undefined ? undefined : choiceOf('thin', thin, ['on', 'off']) === 'on',
    maxInFlight: maxInFlight === undefined ? undefined : numberOf('max-in-flight', maxInFlight),
  };
}

/** Null for all. */
function typesOf(text: string): EventType[] | null {
  return text === 'all' ? null : choicesOf('types', text, eventTypes);
}
