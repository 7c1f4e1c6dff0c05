import type { FastifyReply, FastifyRequest } from 'fastify';
import { getArgumentValues, type FieldNode, type GraphQLField } from 'graphql';

import { requireScope } from '../../domain/access/principal.ts';
import { checkFilter } from '../../domain/events/event.service.ts';
import { eventIdRule } from '../../domain/events/event-id.ts';
import { eventPredicate } from '../../domain/events/event-filter.ts';
import { InputCheck } from '../../domain/input.ts';
import { sentKey } from '../../http/credentials.ts';
import { HttpError } from '../../http/error-table.ts';
import type { LoggedStream } from '../../http/observe/request-log.ts';
import { eventFilterOf, type EventSubscriptionArgs } from '../events/event.input.ts';
import type { Variables } from '../executor/arguments.ts';
import type { RootField } from '../executor/operation.ts';
import { assertWithinLimits } from '../pipeline/admission.ts';
import { asGraphQLError } from '../pipeline/errors.ts';
import { observe, recordOutcome, type ExecutionOptions, type MeasuredOperation } from '../pipeline/execution.ts';
import { coerceVariables } from '../pipeline/input-errors.ts';
import type { Measure } from '../pipeline/measure.ts';
import { bytesOf } from '../pipeline/request.ts';
import type { KnownOperation } from '../pipeline/documents.ts';
import { refusalResponse, type GraphQLResponse } from '../pipeline/response.ts';
import type { EventStream } from './event-stream.ts';
import type { EventStreams, StreamOpening } from './event-streams.ts';
import { eventStreamType, framingFor, singleEvent, streamTypes, type Framing } from './framing.ts';

/** A subscription as a client sends it. */
export interface Subscription {
  readonly operation: KnownOperation;
  /** The text of its document with its name. */
  readonly key: string;
  /** Not coerced yet. */
  readonly variables: Variables;
}

/** What its arguments say. */
type Start = Pick<StreamOpening, 'operation' | 'matches' | 'after'>;

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
): Promise<void> {
  const { operation, variables } = subscription;
  const framing = requireFraming(request.headers.accept);
  void reply.header('cache-control', 'no-store');
  const opened = await observe(operation, variables, request, (observed) =>
    open({ subscription, observed, framing }, request, streams, options),
  );
  if (!('stream' in opened)) return sendRefusal(opened, reply, opened.isResult ? framing : undefined);
  begin(request, opened.stream);
  // Sent by itself the head becomes one text; with what follows it stays a tree of its parts, 3 KB of each stream.
  reply.raw.once('pipe', () => reply.raw.flushHeaders());
  void reply.headers({ 'content-type': framing.contentType, 'x-accel-buffering': 'no' }).send(opened.stream);
}

interface Opening {
  readonly subscription: Subscription;
  readonly observed: MeasuredOperation;
  readonly framing: Framing;
}

type OpenedStream = { readonly stream: EventStream } & Pick<GraphQLResponse, 'status' | 'codes'>;

/** `isResult`: refused by limits or variables, as parsing and validation refuse. */
type RefusedStream = { readonly isResult: boolean } & GraphQLResponse;

async function open(
  { subscription, observed, framing }: Opening,
  request: FastifyRequest,
  streams: EventStreams,
  { limits, hidden, onRefusal, onErrors }: ExecutionOptions,
): Promise<OpenedStream | RefusedStream> {
  const { principal, meter } = request;
  const { source } = subscription.operation;
  const { measured, label } = observed;
  let cost = 1;
  let isResult = true;
  try {
    ({ cost } = await meter.spend());
    const variables = coerceVariables(source, subscription.variables, { hidden, bytes: bytesOf(request) });
    assertWithinLimits(measured, limits, onRefusal);
    isResult = false;
    requireScope(principal, 'read');
    const stream = await streams.open({
      ...startOf(subscription, variables, measured, limits.maxResponseBytes),
      key: keyOf(request),
      principal,
      framing,
      onTooMany: () => meter.countRefusedOpening(),
      onEnd: (code) => onErrors(label, [code]),
      onError: (error) => request.log.error({ err: error }, 'internal error'),
    });
    recordOutcome(observed, { cost, codes: [] }, request, onErrors);
    return { status: 200, codes: [], stream };
  } catch (cause) {
    const response = refusalResponse(asGraphQLError(cause));
    recordOutcome(observed, { cost, codes: response.codes }, request, onErrors);
    return { ...response, isResult };
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
): void {
  void reply.headers(headers).header('cache-control', 'no-store');
  if (status === 400 && framing?.contentType === eventStreamType)
    void reply.code(200).header('content-type', eventStreamType).send(singleEvent(body));
  else void reply.code(status).header('content-type', 'application/json; charset=utf-8').send(body);
}

function requireFraming(accept: string | undefined): Framing {
  const framing = framingFor(accept);
  if (framing !== undefined) return framing;
  throw new HttpError('NOT_ACCEPTABLE', `A subscription is a stream of results: accept ${streamTypes}.`);
}

/** Throws VALIDATION_FAILED when the arguments are wrong. */
function startOf({ operation, key }: Subscription, variables: Variables, measured: Measure, maxBytes: number): Start {
  const { prepared, source } = operation;
  // Validation allows no other number of root fields, and none that depends on a directive.
  const [root] = prepared.rootFields(variables) as [RootField];
  const field = source.schema.getSubscriptionType()?.getFields()[root.name] as GraphQLField<unknown, unknown>;
  const args = getArgumentValues(field, root.nodes[0] as FieldNode, variables) as EventSubscriptionArgs;
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
