import { hostname } from 'node:os';
import { performance } from 'node:perf_hooks';

import { type Span, trace } from '@opentelemetry/api';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Logger, type LoggerOptions, pino } from 'pino';

import { redactSecrets } from '../../domain/access/redaction.ts';
import type { DeprecatedCoordinate } from '../../domain/requests/request.store.ts';
import { shownError } from '../../platform/shown-error.ts';
import { type AddressLogging, loggedAddress } from '../client.ts';
import { type MatchedRoute, pathOf } from '../route-table.ts';
import type { CompletedRequest } from './metrics.ts';
import type { OnServed } from './served-requests.ts';

/** Called when a response has been sent, or its connection is closed. */
export type OnResponse = (completed: CompletedRequest) => void;

/** nginx's status for a client that has disconnected before there was any response: 200 would say that it got one. */
export const clientClosedRequest = 499;
const [debugLevel, infoLevel] = [20, 30];
const host = hostname();
const secretHeaders = ['authorization', 'x-api-key', 'cookie', 'set-cookie'];

/** No line has a header, a query or a key; secret headers of an object that is logged are redacted. */
export function createLog(level: string, addresses: AddressLogging, stream: LogStream = process.stdout): Logger {
  const places = ['headers', 'req.headers', 'request.headers'];
  const options: LoggerOptions = {
    level,
    redact: places.flatMap((place) => secretHeaders.map((name) => `${place}["${name}"]`)),
    serializers: {
      err: (error: unknown) => shownError(error),
      req: ({ method, url }: FastifyRequest) => ({ method, path: loggedPath(url) }),
      address: (address: string | undefined) => loggedAddress(address, addresses),
    },
    hooks: { streamWrite: redactSecrets },
  };
  return pino(options, stream);
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The operation's name in the metrics, where it depends on the request; otherwise that of the route. */
    operation: string | undefined;
    /** What is deprecated of its operation, where that isn't its route's. */
    deprecated: readonly DeprecatedCoordinate[] | undefined;
    /** The operation of a GraphQL request, as far as it is known. */
    graphql: LoggedOperation | undefined;
    /** The response goes on as this stream, whose end is logged in place of its own. */
    recordStream: (stream: LoggedStream) => void;
  }
}

interface LoggedOperation {
  /** As the client calls it, shortened. */
  readonly name?: string | undefined;
  /** The root fields, by the schema's names. */
  readonly fields?: readonly string[];
  /** From the quota. */
  readonly cost?: number;
  readonly complexity?: number;
  /** Of its errors, each once. */
  readonly codes: readonly string[];
}

/** The part of a log line that is about a stream, in its last one. */
interface LoggedStream {
  readonly sent: number;
  /** The code of its last message; undefined when the client has ended it. */
  readonly endCode: string | undefined;
}

export interface LogStream {
  write(line: string): void;
  /** Calls the listener for every line that is dropped because the output is not read. */
  onDrop?(listener: () => void): void;
}

/** The part of a log line that is about a window without requests left. */
export interface SpentQuota {
  readonly window: 'minute' | 'day';
  readonly limit: number;
}

interface ResponseLogOptions {
  readonly stream: LogStream;
  readonly level: string;
  readonly addresses: AddressLogging;
  readonly onResponse: OnResponse | undefined;
  readonly onServed: OnServed | undefined;
}

/** A request that has had its response, or none. */
interface EndedRequest {
  readonly requestId: string;
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly address: string | undefined;
  readonly status: number;
  readonly code: string | undefined;
  readonly retryAfter?: number | undefined;
  readonly quota?: SpentQuota | undefined;
  readonly key?: string | undefined;
  readonly graphql?: LoggedOperation | undefined;
}

/** A response as the log and the metrics have it. */
interface ResponseLine {
  readonly line: ReturnType<typeof lineOf>;
  readonly operation: string;
}

/** What isn't known yet is set when it is written. One literal: spreads would take longer than all the rest. */
function lineOf(
  { requestId, method, path, address, key, status, code, retryAfter, quota, graphql }: EndedRequest,
  { url: route, config }: Partial<MatchedRoute> = {},
  requestTrace?: RequestTrace,
) {
  return {
    level: config?.isPublic === true && status < 400 ? debugLevel : infoLevel,
    time: 0,
    pid: process.pid,
    hostname: host,
    requestId,
    method,
    route,
    path: path === undefined ? undefined : loggedPath(path),
    address,
    key,
    status,
    code,
    retryAfter,
    quota,
    trace_id: requestTrace?.trace_id,
    span_id: requestTrace?.span_id,
    graphql,
    deprecated: config?.deprecation && true,
    ms: 0,
    stream: undefined as object | undefined,
    msg: '',
  };
}

/** Logs one line for each response, as pino would have it but in half the time, and counts it. */
export class ResponseLog {
  readonly #options: ResponseLogOptions;
  readonly #minLevel: number;

  constructor(options: ResponseLogOptions) {
    this.#options = options;
    this.#minLevel = pino.levels.values[options.level] ?? Infinity;
  }

  /** Logs at the end of the response, or of its connection; successful public pages at `debug` only. */
  record(request: FastifyRequest, reply: FastifyReply): void {
    const startedAt = performance.now();
    const { id: requestId, method, url: path, ip: address } = request;
    const requestTrace = traceOf(path);
    const end = (): ResponseLine => {
      const { principal, operation, graphql, route, charge } = request;
      const { headersSent, statusCode } = reply.raw;
      const status = headersSent ? statusCode : clientClosedRequest;
      const { failureCode: code } = reply;
      const quota = charge?.refusal?.quota;
      const retryAfter = status === 429 ? Number(reply.getHeader('retry-after')) : undefined;
      const key = principal?.id;
      const ended = { requestId, method, path, address, key, status, code, retryAfter, quota, graphql };
      return { line: lineOf(ended, route, requestTrace), operation: operation ?? operationOf(method, route) };
    };
    const record = (): void => {
      const ended = end();
      const millis = performance.now() - startedAt;
      this.#write(ended, millis, messageOf(reply.raw.writableFinished));
      this.#serve(request, ended, millis);
    };
    reply.raw.on('close', record);
    const recordStream = (stream: LoggedStream): void => {
      reply.raw.removeListener('close', record);
      const ended = end();
      reply.raw.on('close', this.#streamRecorder(ended, startedAt, stream));
      this.#serve(request, ended, performance.now() - startedAt);
    };
    request.recordStream = recordStream;
  }

  #serve(request: FastifyRequest, { line: { status, code }, operation }: ResponseLine, millis: number): void {
    this.#options.onServed?.(request, { status, code, operation, millis });
  }

  /** Of a request that Node's parser has rejected. `isSent`: its response was written before the connection closed. */
  recordRejected(ended: EndedRequest, route: MatchedRoute | undefined, millis: number, isSent: boolean): void {
    this.#write({ line: lineOf(ended, route), operation: operationOf(ended.method, route) }, millis, messageOf(isSent));
  }

  /** Made apart: for as long as the stream lasts it keeps the line, and nothing of the request. */
  #streamRecorder(ended: ResponseLine, startedAt: number, stream: LoggedStream): () => void {
    return () => {
      const { sent: events, endCode: end } = stream;
      this.#write(ended, performance.now() - startedAt, 'event stream ended', { events, end });
    };
  }

  #write({ line, operation }: ResponseLine, millis: number, msg: string, stream?: object): void {
    const { stream: out, addresses, onResponse } = this.#options;
    if (line.level >= this.#minLevel) {
      line.time = Date.now();
      line.address = loggedAddress(line.address, addresses);
      line.ms = rounded(millis);
      line.stream = stream;
      line.msg = msg;
      out.write(`${redactSecrets(JSON.stringify(line))}\n`);
    }
    // How long a client listens says nothing about the service.
    onResponse?.({ operation, status: line.status, seconds: stream === undefined ? millis / 1000 : undefined });
  }
}

function operationOf(method: string | undefined, { url, config }: Partial<MatchedRoute> = {}): string {
  if (method === 'OPTIONS') return method;
  return url === undefined ? 'none' : (config?.operationId ?? `${method} ${url}`);
}

function messageOf(isSent: boolean): string {
  return isSent ? 'response sent' : 'client disconnected before the response was sent';
}

function rounded(millis: number): number {
  return Math.round(millis * 10) / 10;
}

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
  // The attributes that an SDK has recorded; the API doesn't show them.
  const { attributes = {} } = span as { readonly attributes?: Readonly<Record<string, unknown>> };
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'string') span.setAttribute(name, redactEscaped(value));
  }
  span.setAttribute('url.path', loggedPath(url));
  if (url.includes('?')) span.setAttribute('url.query', '…');
}

const maxLoggedPath = 200;

/** Without its query, shortened, and decoded where a key is hidden in its escapes. */
function loggedPath(url: string): string {
  return redactEscaped(pathOf(url)).slice(0, maxLoggedPath);
}

/** A text of a URL without the keys in it: decoded where one is hidden in its escapes. */
function redactEscaped(text: string): string {
  const plain = unescaped(text);
  const redacted = redactSecrets(plain);
  return redacted === plain ? text : redacted;
}

function unescaped(path: string): string {
  return path.replace(/%([0-9a-f]{2})/gi, (_escape, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
