import type { FastifyRequest } from 'fastify';
import { type DocumentNode, type GraphQLError, OperationTypeNode } from 'graphql';
import { context as traceContext, propagation, type Span, SpanStatusCode, trace } from '@opentelemetry/api';

import { redactSecrets } from '../../domain/access/redaction.ts';
import type { OnRefusal } from '../../http/observe/bounds.ts';
import { describeFailure } from '../../http/error-table.ts';
import { logFailure } from '../../http/failure-response.ts';
import type { GraphQLContext } from '../context.ts';
import { bytesOf } from '../../platform/executor/index.ts';
import { executeAtomically } from './atomic-execution.ts';
import { assertWithinLimits, type OperationLimits, quotaCost } from './admission.ts';
import type { Measure } from './measures.ts';
import { executionResponse, type GraphQLResponse, refusalResponse, withReplays } from './response.ts';
import { asGraphQLError, causeOf, decisiveRefusal, isInternalError } from './errors.ts';
import { namesIn, type HiddenSchema } from './hidden-schema.ts';
import { argumentRefusal } from './variables.ts';
import type { KnownOperation } from './documents.ts';
import type { LiftedLiterals } from './literals.ts';

interface ExecutionLimits extends OperationLimits {
  readonly maxResponseBytes: number;
}

export interface ExecutionOptions {
  readonly limits: ExecutionLimits;
  /** The schema, if it isn't public. */
  readonly hidden: HiddenSchema | undefined;
  readonly onRefusal: OnRefusal;
  /** Called with the errors of a request: the operation's name in the metrics, and the code of each error. */
  readonly onErrors: (operation: string, codes: readonly string[]) => void;
}

const tracer = trace.getTracer('petstore-gateway');

/** A list of thousands can fail with thousands of equal errors. */
const maxLoggedErrors = 10;
/** The characters of an operation's name in the log. */
const maxLoggedName = 100;

/** An operation as one request sends it. Nothing else of the request's text is kept while it is executed. */
export interface OperationCall {
  readonly operation: KnownOperation;
  readonly measured: Measure;
  /** The variables that it declares, not coerced yet. */
  readonly variables: Readonly<Record<string, unknown>>;
  readonly lifted: LiftedLiterals | undefined;
  /** The size of the request. */
  readonly bytes: number;
}

/** The end of an operation, as the log and the metrics have it. */
type Outcome = Pick<GraphQLResponse, 'status' | 'codes'>;

export function recordOutcome(
  { operation, measured }: OperationCall,
  { cost, codes }: { readonly cost: number; readonly codes: readonly string[] },
  request: Pick<FastifyRequest, 'graphql'>,
  onErrors: ExecutionOptions['onErrors'],
): void {
  const { name } = operation.source.operation;
  request.graphql = {
    name: name && redactSecrets(name.value).slice(0, maxLoggedName),
    fields: measured.rootFieldNames,
    cost,
    complexity: measured.complexity,
    codes: codes.length > 1 ? [...new Set(codes)] : codes,
  };
  if (codes.length > 0) onErrors(measured.label, codes);
}

/** The cost is spent first. Bad variables are reported before limits, since they are more specific. */
export function executeOperation(
  call: OperationCall,
  context: GraphQLContext,
  options: ExecutionOptions,
): Promise<GraphQLResponse> {
  return observe(call, context.request, () => execute(call, context, options));
}

async function execute(
  call: OperationCall,
  context: GraphQLContext,
  options: ExecutionOptions,
): Promise<GraphQLResponse> {
  const { operation, measured, variables, lifted, bytes } = call;
  const { source, prepared, isAtomic } = operation;
  const { limits, hidden, onRefusal, onErrors } = options;
  const { request } = context;
  let response: GraphQLResponse;
  let cost = quotaCost(measured, bytes);
  try {
    ({ cost } = await request.meter.spend(cost));
    const declared = operation.variables.coerce(variables, { hidden, bytes });
    const coerced = lifted === undefined ? declared : Object.assign(declared, lifted.values);
    assertWithinLimits(measured, limits, onRefusal);
    const isMutation = prepared.kind === OperationTypeNode.MUTATION;
    if (isMutation) context.keyed?.assertFewFields(measured.executedFields.length);
    const waiting = request.memory.reserve(Math.min(measured.bytes, limits.maxResponseBytes));
    if (waiting !== undefined) await waiting;
    const execution = isAtomic
      ? await executeAtomically(prepared, coerced, context, options)
      : await prepared.run({ context, variables: coerced, maxBytes: limits.maxResponseBytes, turns: context });
    request.memory.hold(execution.data === undefined ? 0 : bytesOf(execution.data));
    lifted?.relocate(execution.errors);
    if (execution.omittedErrors > 0) onRefusal('errors');
    logErrors(execution.errors, true, context);
    if (hidden !== undefined) concealArguments(execution.errors, hidden, source.document);
    response = executionResponse(execution, isMutation, limits.maxResponseBytes, measured);
    response = withReplays(response, context.keyed?.replayed ?? [], measured);
  } catch (cause) {
    const error = asGraphQLError(cause);
    if (hidden !== undefined) concealArguments([error], hidden, source.document);
    logErrors([error], false, context);
    response = refusalResponse(error);
  }
  if (response.codes.includes('RESULT_TOO_LARGE')) onRefusal('result_bytes');
  recordOutcome(call, { cost, codes: response.codes }, request, onErrors);
  return response;
}

/** A null variable for a required argument is refused by graphql-js as late as here. */
function concealArguments(errors: readonly GraphQLError[], hidden: HiddenSchema, document: DocumentNode): void {
  const isKnown = namesIn(document);
  for (const error of errors) {
    if (argumentRefusal(error) !== undefined) error.message = hidden.conceal(error.message, isKnown);
  }
}

/** Logs unexpected errors whole, and those that fail the whole response. */
function logErrors(errors: readonly GraphQLError[], wasExecuted: boolean, { request }: GraphQLContext): void {
  if (errors.length === 0) return;
  const internal = errors.filter(isInternalError);
  for (const error of internal.slice(0, maxLoggedErrors)) {
    request.log.error({ err: causeOf(error), path: error.path, count: internal.length }, 'internal error');
  }
  const refusal = decisiveRefusal(errors, wasExecuted);
  if (refusal !== undefined) logFailure(refusal, describeFailure(refusal), request);
}

/**
 * Executes the operation of a request, or opens its stream, as a span of OpenTelemetry: below the active one, or in the
 * trace that `traceparent` names. Its statements are below its span. Nothing without an SDK.
 *
 * Nothing that a client chooses is in the span: no document, name or variable.
 */
export function observe<Result extends Outcome>(
  { operation, measured: { label, rootFieldNames } }: OperationCall,
  request: Pick<FastifyRequest, 'operation' | 'headers' | 'caller'>,
  work: () => Promise<Result>,
): Promise<Result> {
  request.operation = label;
  const { headers, caller } = request;
  const active = traceContext.active();
  const isRoot = headers['traceparent'] !== undefined && trace.getSpan(active) === undefined;
  const parent = isRoot ? propagation.extract(active, headers) : active;
  const span = tracer.startSpan(
    label,
    { attributes: { 'graphql.operation.type': operation.prepared.kind, 'graphql.root_fields': rootFieldNames } },
    parent,
  );
  if (!span.isRecording()) return work();
  caller.span = span;
  return executeIn(span, traceContext.with(trace.setSpan(parent, span), work));
}

async function executeIn<Result extends Outcome>(span: Span, executing: Promise<Result>): Promise<Result> {
  try {
    const response = await executing;
    const codes = [...new Set(response.codes)];
    if (codes.length > 0) span.setAttribute('graphql.error_codes', codes);
    const isFault = response.status >= 500 || codes.includes('INTERNAL_SERVER_ERROR');
    if (isFault) span.setStatus({ code: SpanStatusCode.ERROR });
    return response;
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
}
