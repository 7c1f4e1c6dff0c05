import { trace, type Span } from '@opentelemetry/api';

import { loggedPath, redactEscaped } from './logged-path.ts';

/** The trace that a request belongs to, for its log line; undefined without OpenTelemetry. */
export interface RequestTrace {
  readonly trace_id: string;
  readonly span_id: string;
}

/** Call it when the request begins: also removes from its span what isn't shown in the log either. */
export function traceOf(url: string): RequestTrace | undefined {
  const span = trace.getActiveSpan();
  if (span === undefined) return undefined;
  if (span.isRecording()) redact(span, url);
  const { traceId, spanId } = span.spanContext();
  return { trace_id: traceId, span_id: spanId };
}

/** Instrumentation of HTTP records the path, the query and some headers, in which a client may have put a key. */
function redact(span: Span, url: string): void {
  // What an SDK has recorded; the API doesn't show it.
  const { attributes = {} } = span as { readonly attributes?: Readonly<Record<string, unknown>> };
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'string') span.setAttribute(name, redactEscaped(value));
  }
  span.setAttribute('url.path', loggedPath(url));
  if (url.includes('?')) span.setAttribute('url.query', '…');
}
