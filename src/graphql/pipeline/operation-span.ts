import type { IncomingHttpHeaders } from 'node:http';

import { context, propagation, SpanStatusCode, trace, type Span } from '@opentelemetry/api';
import type { OperationTypeNode } from 'graphql';

import type { Caller } from '../../platform/callers/index.ts';
import type { GraphQLResponse } from './response.ts';

const tracer = trace.getTracer('petstore-gateway');

type TracedResult = Pick<GraphQLResponse, 'status' | 'codes'>;

interface TracedOperation {
  /** Its statements are below its span. */
  readonly caller: Caller;
  /** One of few: the operation's label in the metrics. */
  readonly label: string;
  readonly kind: OperationTypeNode;
  /** The root fields, by the schema's names. */
  readonly rootFields: readonly string[];
  readonly headers: IncomingHttpHeaders;
}

/**
 * Executes an operation as a span of OpenTelemetry: below the active one, or in the trace that `traceparent` names.
 * Nothing without an SDK.
 *
 * Nothing that a client chooses is in the span: no document, name or variable.
 */
export function traceOperation<Result extends TracedResult>(
  { caller, label, kind, rootFields, headers }: TracedOperation,
  execute: () => Promise<Result>,
): Promise<Result> {
  const active = context.active();
  const isRoot = headers['traceparent'] !== undefined && trace.getSpan(active) === undefined;
  const parent = isRoot ? propagation.extract(active, headers) : active;
  const span = tracer.startSpan(
    label,
    { attributes: { 'graphql.operation.type': kind, 'graphql.root_fields': rootFields } },
    parent,
  );
  if (!span.isRecording()) return execute();
  caller.span = span;
  return executeIn(span, context.with(trace.setSpan(parent, span), execute));
}

async function executeIn<Result extends TracedResult>(span: Span, executing: Promise<Result>): Promise<Result> {
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
