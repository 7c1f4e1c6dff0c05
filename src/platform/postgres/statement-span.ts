import { SpanKind, SpanStatusCode, trace, ROOT_CONTEXT } from '@opentelemetry/api';

import type { Caller } from '../callers/index.ts';
import { StatementBatch, textsOf } from './statement-batch.ts';

const tracer = trace.getTracer('petstore-gateway');

const maxTextLength = 2_000;

/**
 * Records a statement that has ended as a span, with its text, in which parameters are `$1`, and without their values.
 *
 * It is a child of the first request that it serves, and linked to each when there are several. Nothing where none of
 * them is traced.
 */
export function recordStatement(text: string, callers: readonly Caller[], startTime: number, error: unknown): void {
  // Almost always: without an SDK of OpenTelemetry.
  if (callers.every(({ span }) => span === undefined)) return;
  const [first, ...others] = callers.flatMap(({ span }) => span ?? []);
  if (first === undefined) return;
  const links = others.length > 0 ? [first, ...others].map((each) => ({ context: each.spanContext() })) : [];
  const attributes = { 'db.system.name': 'postgresql', 'db.query.text': text.slice(0, maxTextLength) };
  const options = { kind: SpanKind.CLIENT, startTime, links, attributes };
  const [verb = 'statement'] = /[a-z]+/i.exec(text) ?? [];
  const span = tracer.startSpan(verb.toUpperCase(), options, trace.setSpan(ROOT_CONTEXT, first));
  if (error !== null && error !== undefined) {
    const { code } = error as { readonly code?: unknown };
    if (typeof code === 'string') span.setAttribute('db.response.status_code', code);
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}

/** Sends anything that `query` of a client takes, and records it when it has ended. */
export function sendTraced(caller: Caller, statement: unknown, send: () => unknown): unknown {
  const sentAt = performance.now();
  const record = (error: unknown): void => recordStatement(textsOf(statement).join('; '), [caller], sentAt, error);
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
