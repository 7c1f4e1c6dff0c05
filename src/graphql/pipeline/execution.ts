import { OperationTypeNode, type GraphQLError } from 'graphql';

import type { OnRefusal } from '../../http/bounds.ts';
import { describeFailure } from '../../http/error-table.ts';
import { smallResponseBytes, type Reservation } from '../../http/response-memory.ts';
import type { GraphQLContext } from '../context.ts';
import { assertWithinLimits, operationLabel, quotaCost, type OperationLimits } from './admission.ts';
import { executionResponse, refusalResponse, type GraphQLResponse } from './response.ts';
import { asGraphQLError, causeOf, decisiveRefusal, isInternalError } from './errors.ts';
import { coerceVariables } from './input-errors.ts';
import type { KnownOperation } from './operation-cache.ts';
import { bytesOf } from './request.ts';

interface ExecutionLimits extends OperationLimits {
  readonly maxResponseBytes: number;
}

/** Waits until there is memory for a response of this size; throws UNAVAILABLE. */
export type ReserveMemory = (bytes: number) => Promise<Pick<Reservation, 'resize'>>;

export interface ExecutionOptions {
  readonly limits: ExecutionLimits;
  readonly introspection: boolean;
  readonly onRefusal: OnRefusal;
  /** Called with the errors of a request: the operation's name in the metrics, and the code of each error. */
  readonly onErrors: (operation: string, codes: readonly string[]) => void;
}

/** A list of thousands can fail with thousands of equal errors. */
const maxLoggedErrors = 10;
const maxLoggedName = 100;

/**
 * Executes an operation: spends its cost, coerces its variables, checks the limits, and runs it.
 *
 * The cost is spent first. Bad variables are reported before limits, since they are more specific.
 */
export async function executeOperation(
  { source, prepared, measure }: KnownOperation,
  variables: Readonly<Record<string, unknown>>,
  context: GraphQLContext,
  options: ExecutionOptions,
  reserve: ReserveMemory,
): Promise<GraphQLResponse> {
  const { limits, introspection, onRefusal, onErrors } = options;
  const { request, meter } = context;
  const measured = measure.for(variables);
  const label = operationLabel(prepared.kind, measured);
  request.operation = label;
  let response: GraphQLResponse;
  try {
    await meter.spend(quotaCost(measured, bytesOf(request)));
    const coerced = coerceVariables(source, variables, !introspection);
    assertWithinLimits(measured, limits, onRefusal);
    const bytes = Math.min(measured.bytes, limits.maxResponseBytes);
    const memory = bytes > smallResponseBytes ? await reserve(bytes) : undefined;
    const execution = await prepared.run(context, coerced, limits.maxResponseBytes);
    memory?.resize(execution.data?.length ?? 0);
    if (execution.omittedErrors > 0) onRefusal('errors');
    logErrors(execution.errors, true, context);
    response = executionResponse(execution, prepared.kind === OperationTypeNode.MUTATION, limits.maxResponseBytes);
  } catch (cause) {
    const error = asGraphQLError(cause);
    logErrors([error], false, context);
    response = refusalResponse(error);
  }
  if (response.codes.includes('RESULT_TOO_LARGE')) onRefusal('result_bytes');
  if (response.codes.length > 0) onErrors(label, response.codes);
  request.graphql = {
    name: source.operation.name?.value.slice(0, maxLoggedName),
    fields: measured.rootFieldNames,
    cost: measured.cost,
    codes: [...new Set(response.codes)],
  };
  return response;
}

/** Logs unexpected errors whole, and those that fail the whole response. */
function logErrors(errors: readonly GraphQLError[], wasExecuted: boolean, { log }: GraphQLContext): void {
  if (errors.length === 0) return;
  const internal = errors.filter(isInternalError);
  for (const error of internal.slice(0, maxLoggedErrors)) {
    log.error({ err: causeOf(error), path: error.path, count: internal.length }, 'internal error');
  }
  const refusal = decisiveRefusal(errors, wasExecuted);
  if (refusal === undefined) return;
  const { logLevel, restCode } = describeFailure(refusal);
  if (logLevel !== 'info') log[logLevel]({ err: refusal }, restCode);
}
