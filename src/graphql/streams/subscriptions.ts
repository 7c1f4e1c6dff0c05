import type { FastifyReply, FastifyRequest } from 'fastify';
import { getArgumentValues, type FieldNode } from 'graphql';

import { redactKeys } from '../../domain/access/api-key.ts';
import { requireScope } from '../../domain/access/principal.ts';
import { validationFailed } from '../../domain/errors.ts';
import { checkFilter } from '../../domain/events/event.service.ts';
import { eventIdRule } from '../../domain/events/event-id.ts';
import { eventPredicate } from '../../domain/events/event-filter.ts';
import { InputCheck } from '../../domain/input.ts';
import { sentKey } from '../../http/credentials.ts';
import { HttpError } from '../../http/error-table.ts';
import { complexityHeaderName } from '../../http/quota-headers.ts';
import type { LoggedStream } from '../../http/observe/request-log.ts';
import { eventFilterOf } from '../events/event-subjects.ts';
import type { EventSubscriptionArgs } from '../events/event.input.ts';
import { assertWithinLimits, operationLabel } from '../pipeline/admission.ts';
import { asGraphQLError } from '../pipeline/errors.ts';
import { maxLoggedName, type ExecutionOptions } from '../pipeline/execution.ts';
import { coerceVariables } from '../pipeline/input-errors.ts';
import type { Measure } from '../pipeline/measure.ts';
import type { KnownOperation } from '../pipeline/operation-cache.ts';
import { refusalResponse, type GraphQLResponse } from '../pipeline/response.ts';
import type { EventStreams, StreamOpening } from './event-streams.ts';
import { eventStreamType, framingFor, singleEvent, type Framing } from './framing.ts';

type Variables = Readonly<Record<string, unknown>>;

/** A subscription as a client sends it. */
export interface Subscription {
  readonly operation: KnownOperation;
  /** The text of its document with its name. */
  readonly key: string;
  /** Not coerced yet. */
  readonly variables: Variables;
}

/** What its arguments say. */
type Opened = Pick<StreamOpening, 'operation' | 'matches' | 'after'>;

/**
 * Opens the stream of a subscription, and sends it.
 *
 * What parsing, validation and limits refuse is a result of the stream over Server-Sent Events. Everything else that is
 * refused before the stream begins is an ordinary response.
 */
export async function sendSubscription(
  subscription: Subscription,
  request: FastifyRequest,
  reply: FastifyReply,
  streams: EventStreams,
  options: ExecutionOptions,
): Promise<FastifyReply> {
  const { source, prepared, measure } = subscription.operation;
  const measured = measure.for(subscription.variables);
  const label = operationLabel(prepared.kind, measured);
  const { principal } = request;
  request.operation = label;
  const describe = (cost: number, codes: readonly string[]): void => {
    request.graphql = {
      name: source.operation.name && redactKeys(source.operation.name.value).slice(0, maxLoggedName),
      fields: measured.rootFieldNames,
      cost,
      complexity: measured.complexity,
      codes,
    };
    if (codes.length > 0) options.onErrors(label, codes);
  };
  const framing = requireFraming(request.headers.accept);
  void reply.headers({ [complexityHeaderName]: String(measured.complexity), 'cache-control': 'no-store' });
  let cost = 1;
  let isValid = false;
  try {
    ({ cost } = await request.meter.spend());
    const variables = coerceVariables(source, subscription.variables, options.hidden);
    assertWithinLimits(measured, options.limits, options.onRefusal);
    isValid = true;
    requireScope(principal, 'read');
    const opened = opening(subscription, variables, measured, options.limits.maxResponseBytes);
    const stream = await streams.open({
      ...opened,
      key: keyOf(request),
      principal,
      framing,
      onEnd: (code) => options.onErrors(label, [code]),
      onError: (error) => request.log.error({ err: error }, 'internal error'),
    });
    describe(cost, []);
    begin(request, stream);
    return await reply.headers({ 'content-type': framing.contentType, 'x-accel-buffering': 'no' }).send(stream);
  } catch (cause) {
    const response = refusalResponse(asGraphQLError(cause));
    describe(cost, response.codes);
    return sendRefusal(response, reply, isValid ? undefined : framing);
  }
}

function begin(request: FastifyRequest, logged: LoggedStream): void {
  const { server, socket, principal, graphql, ip: address } = request;
  server.connections.beginStream(socket);
  request.eventStream = logged;
  request.log.info({ key: principal.id, address, graphql }, 'event stream begun');
}

/** It has been checked. */
function keyOf({ raw }: FastifyRequest): string {
  const sent = sentKey(raw);
  return sent !== undefined && 'key' in sent ? sent.key : '';
}

/**
 * Sends what parsing, validation or limits have refused as the only result of a stream, where that is how errors come;
 * everything else as it is.
 */
function sendRefusal(
  { status, headers, body }: Pick<GraphQLResponse, 'status' | 'headers' | 'body'>,
  reply: FastifyReply,
  framing: Framing | undefined,
): FastifyReply {
  void reply.headers(headers).header('cache-control', 'no-store');
  if (status === 400 && framing?.contentType === eventStreamType)
    return reply.code(200).header('content-type', eventStreamType).send(singleEvent(body));
  return reply.code(status).header('content-type', 'application/json; charset=utf-8').send(body);
}

function requireFraming(accept: string | undefined): Framing {
  const framing = framingFor(accept);
  if (framing !== undefined) return framing;
  const message =
    'A subscription is a stream of results: accept text/event-stream, or multipart/mixed;subscriptionSpec=1.0.';
  throw new HttpError('NOT_ACCEPTABLE', message);
}

/** Throws VALIDATION_FAILED when the arguments are wrong. */
function opening({ operation, key }: Subscription, variables: Variables, measured: Measure, maxBytes: number): Opened {
  const { prepared, source } = operation;
  const [root, ...others] = prepared.rootFields(variables);
  const field = root && source.schema.getSubscriptionType()?.getFields()[root.name];
  if (field === undefined || others.length > 0)
    throw validationFailed([{ field: 'query', message: 'A subscription has exactly one root field.' }]);
  const args = getArgumentValues(field, root?.nodes[0] as FieldNode, variables) as EventSubscriptionArgs;
  const check = new InputCheck();
  const after = check.optional('after', args.after, eventIdRule);
  const filter = eventFilterOf(args.filter);
  checkFilter(check, filter);
  check.throwIfRefused();
  return {
    operation: { key, document: source.document, prepared, measured, variables, maxBytes },
    matches: eventPredicate(filter),
    after,
  };
}
