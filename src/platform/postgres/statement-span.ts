import { SpanKind, SpanStatusCode, trace, ROOT_CONTEXT } from '@opentelemetry/api';

import type { Caller } from '../callers/index.ts';

const tracer = trace.getTracer('platform/postgres');

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

/** Records what was sent for a caller when it has ended. */
export function traced<Result>(caller: Caller | undefined, text: () => string, sent: Promise<Result>): Promise<Result> {
  if (caller?.span === undefined) return sent;
  const sentAt = performance.now();
  const record = (error: unknown): void => recordStatement(text(), [caller], sentAt, error);
  sent.then(() => record(undefined), record);
  return sent;
}
