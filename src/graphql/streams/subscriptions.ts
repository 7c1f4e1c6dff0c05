import type { ServerResponse } from 'node:http';

import type { FastifyReply, FastifyRequest } from 'fastify';

import { requireScopes } from '../../domain/access/scope.ts';
import { checkFilter } from '../../domain/events/event.service.ts';
import { eventIdRule } from '../../domain/events/event.ts';
import { InputCheck } from '../../domain/input.ts';
import type { Framing } from '../../platform/feed/index.ts';
import { beginStream } from '../../http/api.ts';
import { sentKey } from '../../http/client.ts';
import { HttpError } from '../../http/error-table.ts';
import { clientGone } from '../../platform/http/index.ts';
import { eventFilterOf, type EventSubscriptionArgs } from '../events/event.input.ts';
import type { RootCall } from '../../platform/executor/index.ts';
import { assertWithinLimits } from '../pipeline/admission.ts';
import { asGraphQLError } from '../pipeline/errors.ts';
import { observe, recordOutcome, type ExecutionOptions, type OperationCall } from '../pipeline/execution.ts';
import { refusalResponse, sendGraphQLResponse, type GraphQLResponse } from '../pipeline/response.ts';
import { scopesOf } from '../scopes.ts';
import type { EventStreams, StreamOpening } from './event-streams.ts';
import { eventStreamContentType, framingFor, streamTypes } from './framing.ts';
import { StreamSelection } from './stream-selection.ts';

/** Over Server-Sent Events a refusal by parsing, validation or limits is a result; any other is a plain response. */
export async function sendSubscription(
  call: OperationCall,
  request: FastifyRequest,
  reply: FastifyReply,
  streams: EventStreams,
  options: ExecutionOptions,
): Promise<void> {
  void reply.header('cache-control', 'no-store');
  const opened = await observe(call, request, () => open(call, request, reply, streams, options));
  if (!('body' in opened)) return;
  const { isResult, status } = opened;
  const asEvent =
    isResult && status === 400 && framingFor(request.headers.accept)?.contentType === eventStreamContentType;
  sendGraphQLResponse(request, reply, opened, asEvent);
}

/** `isResult`: refused by limits or variables, as parsing and validation refuse. */
type RefusedStream = { readonly isResult: boolean } & GraphQLResponse;

const begun: Pick<GraphQLResponse, 'status' | 'codes'> = { status: 200, codes: [] };

/** Returns the refusal where the stream hasn't begun. */
async function open(
  call: OperationCall,
  request: FastifyRequest,
  reply: FastifyReply,
  streams: EventStreams,
  { limits, hidden, onRefusal, onErrors }: ExecutionOptions,
): Promise<RefusedStream | typeof begun> {
  const { principal, meter, caller } = request;
  const { operation, measured, variables: sent, bytes } = call;
  let cost = 1;
  let isResult = false;
  try {
    ({ cost } = await meter.spend());
    const framing = requireFraming(request.headers.accept);
    isResult = true;
    const variables = operation.variables.coerce(sent, { hidden, bytes });
    assertWithinLimits(measured, limits, onRefusal);
    const selection = new StreamSelection(operation.source, variables, principal);
    isResult = false;
    // Validation allows no other number of root fields, and none that depends on a directive.
    const [root] = operation.prepared.rootCalls(variables) as [RootCall];
    requireScopes(principal, scopesOf(root.definition));
    const opening: StreamOpening = {
      ...argumentsOf(root),
      selection,
      key: apiKeyOf(request),
      caller,
      principal,
      memory: request.memory,
      framing,
      onTooMany: () => meter.countRefusedOpening(),
      onEnd: endRecorder(onErrors, measured.label),
    };
    const stream = await streams.open(opening, () => {
      recordOutcome(call, { cost, codes: [] }, request, onErrors);
      return begin(request, reply, framing);
    });
    request.recordStream(stream);
    return begun;
  } catch (cause) {
    if (cause === clientGone) throw cause;
    const response = refusalResponse(asGraphQLError(cause));
    recordOutcome(call, { cost, codes: response.codes }, request, onErrors);
    return { ...response, isResult };
  }
}

/** Made apart from what a request has: it is kept as long as the stream. */
function endRecorder(onErrors: ExecutionOptions['onErrors'], label: string): StreamOpening['onEnd'] {
  return (code) => onErrors(label, [code]);
}

/** Throws `clientGone`: then no stream has begun. */
function begin(request: FastifyRequest, reply: FastifyReply, { contentType }: Framing): ServerResponse {
  if (request.raw.socket.destroyed) throw clientGone;
  const { principal, ip: address } = request;
  // Copied: the name is a part of the document's text, which it would keep.
  const graphql = JSON.parse(JSON.stringify(request.graphql)) as FastifyRequest['graphql'];
  request.graphql = graphql;
  request.log.info({ key: principal.id, address, graphql }, 'event stream begun');
  return beginStream(request, reply, { 'content-type': contentType, 'x-accel-buffering': 'no' });
}

/** The request's key, which has been checked. */
function apiKeyOf({ raw }: FastifyRequest): string {
  const sent = sentKey(raw);
  return sent !== undefined && 'key' in sent ? sent.key : '';
}

function requireFraming(accept: string | undefined): Framing {
  const framing = framingFor(accept);
  if (framing !== undefined) return framing;
  throw new HttpError('NOT_ACCEPTABLE', `A subscription is a stream of results: accept ${streamTypes}.`);
}

/** Throws VALIDATION_FAILED when the arguments are wrong. */
function argumentsOf({ args = {}, refusal }: RootCall): Pick<StreamOpening, 'filter' | 'after'> {
  if (refusal !== undefined) throw refusal;
  const { after: sent, filter: sentFilter } = args as EventSubscriptionArgs;
  const check = new InputCheck();
  const after = check.optional('after', sent, eventIdRule);
  const filter = eventFilterOf(sentFilter);
  checkFilter(check, filter);
  check.throwIfRefused();
  return { filter, after };
}
