import { SpanKind, SpanStatusCode, trace, ROOT_CONTEXT, type Span } from '@opentelemetry/api';

import { StatementBatch, textsOf } from './statement-batch.ts';

const tracer = trace.getTracer('petstore-gateway');

/** Who has asked for a statement, where its request is traced. */
export interface TracedCaller {
  readonly span: Span;
  /** Of `performance.now()`. */
  readonly askedAt: number;
}

const maxTextLength = 2_000;

/** The request under way; undefined when it isn't traced, and without an SDK of OpenTelemetry. */
export function tracedCaller(): TracedCaller | undefined {
  const span = trace.getActiveSpan();
  return span?.isRecording() === true ? { span, askedAt: performance.now() } : undefined;
}

/**
 * Records a statement that has ended as a span, with its text, in which parameters are `$1`, and without their values.
 *
 * It is a child of the first request that it serves, and linked to each when there are several. Nothing without an SDK.
 */
export function recordStatement(text: string, callers: readonly TracedCaller[], error: unknown): void {
  const [first, ...others] = callers;
  if (first === undefined) return;
  const links = others.length > 0 ? callers.map(({ span }) => ({ context: span.spanContext() })) : [];
  const attributes = { 'db.system.name': 'postgresql', 'db.query.text': text.slice(0, maxTextLength) };
  const options = { kind: SpanKind.CLIENT, startTime: first.askedAt, links, attributes };
  const [verb = 'statement'] = /[a-z]+/i.exec(text) ?? [];
  const span = tracer.startSpan(verb.toUpperCase(), options, trace.setSpan(ROOT_CONTEXT, first.span));
  if (error !== null && error !== undefined) {
    const { code } = error as { readonly code?: unknown };
    if (typeof code === 'string') span.setAttribute('db.response.status_code', code);
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}

/** Sends anything that `query` of a client takes, and records it when it has ended. */
export function sendTraced(caller: TracedCaller, statement: unknown, send: () => unknown): unknown {
  const record = (error: unknown): void => recordStatement(textsOf(statement).join('; '), [caller], error);
  if (statement instanceof StatementBatch) {
    const { callback } = statement;
    statement.callback = (error, rows) => {
      record(error);
      callback?.(error, rows);
    };
    return send();
  }
  const sent = send();
  if (sent instanceof Promise) sent.then(() => record(undefined), record);
  return sent;
}
