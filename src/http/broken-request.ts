import { randomUUID } from 'node:crypto';
import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { Duplex } from 'node:stream';

import type { FastifyInstance } from 'fastify';

import type { Connections } from './connections.ts';
import { deprecationOf } from './deprecation.ts';
import { describeFailure, HttpError } from './error-table.ts';
import { failureResponse, type RenderErrorPage } from './failure-response.ts';
import { maxTargetBytes } from './limits.ts';
import { headersTooLarge, targetTooLong } from './request-checks.ts';
import { requestIdOf } from './request-id.ts';
import { recordFailureCode, recordRejected, type OnResponse } from './request-log.ts';
import { pathOf, type RouteTable } from './route-table.ts';

export interface BrokenRequestContext {
  readonly connections: Connections;
  readonly routes: RouteTable;
  readonly server: () => FastifyInstance;
  readonly onResponse: OnResponse | undefined;
  readonly renderErrorPage: RenderErrorPage | undefined;
}

interface ParserError extends Error {
  readonly code?: string;
  /** The last bytes read; the first packet of a request has its request line. */
  readonly rawPacket?: Buffer;
}

/** How long a refused client may go on sending before the connection is destroyed: destroyed at once, it may never read the response. */
const lingerMillis = 2_000;

/**
 * Responds in the API's own format to requests that Node's parser rejects.
 *
 * Only where the response can't be mistaken for that of another request: on a connection with nothing under way, or to the one request
 * whose body is broken or too slow. Otherwise the connection is destroyed.
 */
export function respondToBrokenRequest(context: BrokenRequestContext, error: ParserError, socket: Duplex): void {
  const [current, ...others] = context.connections.responsesOn(socket as Socket);
  if (error.code === 'ECONNRESET' || !socket.writable) {
    // After our response, further bytes can't be parsed.
    if (!socket.writableEnded) socket.destroy();
  } else if (context.connections.isBodyUnfinished(socket as Socket)) {
    // The rest of a body whose request has had its response already.
    closeSoon(socket);
  } else if (current === undefined) {
    void refuseOnSocket(context, socket, refusalOf(error), requestLineIn(error.rawPacket));
  } else if (others.length === 0 && !current.req.complete && !current.headersSent) {
    void refuseBody(context, current, refusalOf(error));
  } else {
    socket.destroy();
  }
}

/** The request line, as far as it is known. */
interface RequestLine {
  readonly method?: string | undefined;
  readonly path?: string | undefined;
}

/** Responds on a connection that has no request, and closes it. */
export async function refuseOnSocket(
  context: BrokenRequestContext,
  socket: Duplex,
  refusal: HttpError,
  { method, path }: RequestLine,
): Promise<void> {
  const startedAt = performance.now();
  const requestId = randomUUID();
  const route = method === undefined || path === undefined ? undefined : context.routes.find(method, path);
  const format = path === undefined ? 'rest' : context.routes.errorFormatOf(path);
  const failure = describeFailure(refusal);
  const { status, headers, body } = failureResponse(failure, { format, requestId });
  const quota = format === 'text' ? {} : await context.server().authentication.headersFor(addressOf(socket));
  const record = (isSent: boolean): void => {
    const millis = performance.now() - startedAt;
    const refused = { requestId, method, path, route, status, code: failure.restCode, millis, isSent };
    recordRejected(context.server().log, refused, context.onResponse);
  };
  if (!socket.writable) {
    record(false);
    return;
  }
  const head = Object.entries({
    ...headers,
    ...deprecationOf(route),
    ...quota,
    date: new Date().toUTCString(),
    connection: 'close',
    'content-length': String(Buffer.byteLength(body)),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  // A response to HEAD has no content (RFC 9110, section 9.3.2).
  const content = method === 'HEAD' ? '' : body;
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join('')}\r\n${content}`);
  closeSoon(socket, () => record(socket.writableFinished));
}

/** Ends our side, and discards what the client still sends, so that it can read the response. */
function closeSoon(socket: Duplex, onEnd?: () => void): void {
  socket.end(onEnd);
  socket.resume();
  const timeout = setTimeout(() => socket.destroy(), lingerMillis);
  socket.once('close', () => clearTimeout(timeout));
}

/** Responds past Fastify, which still waits for the body and stops when the connection closes. */
async function refuseBody(context: BrokenRequestContext, response: ServerResponse, refusal: HttpError): Promise<void> {
  const { url = '/', method = '', headers, socket } = response.req;
  const path = pathOf(url);
  const format = context.routes.errorFormatOf(path);
  const described = describeFailure(refusal);
  const requestId = requestIdOf(response.req);
  const { renderErrorPage } = context;
  const failure = failureResponse(described, { format, requestId, accept: headers.accept, renderErrorPage });
  // What follows on the connection can't be separated from the broken body.
  response.shouldKeepAlive = false;
  const quota = format === 'text' ? {} : await context.server().authentication.headersFor(addressOf(socket));
  if (response.headersSent || response.destroyed) return;
  recordFailureCode(response, described.restCode);
  response.writeHead(failure.status, {
    ...failure.headers,
    ...deprecationOf(context.routes.find(method, path)),
    ...quota,
    'content-length': Buffer.byteLength(failure.body),
  });
  response.end(failure.body);
}

function addressOf(socket: Duplex): string {
  return (socket as Socket).remoteAddress ?? '';
}

function refusalOf({ code, rawPacket }: ParserError): HttpError {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new HttpError('REQUEST_TIMEOUT', 'The request took too long to arrive.');
    case 'HPE_HEADER_OVERFLOW':
      return isTargetTooLong(rawPacket) ? targetTooLong() : headersTooLarge();
    default:
      return new HttpError('BAD_REQUEST', 'This is not a well-formed HTTP request.');
  }
}

function isTargetTooLong(packet: Buffer | undefined): boolean {
  return (/^[A-Z]+ \S+/.exec(packet?.toString('latin1') ?? '')?.[0].length ?? 0) > maxTargetBytes;
}

/** A packet that isn't the first of its request hardly ever begins like a request line. */
function requestLineIn(packet: Buffer | undefined): RequestLine {
  const line = /^([A-Za-z-]{1,20}) ((?:\/|https?:\/\/)\S*)/.exec(packet?.toString('latin1') ?? '');
  const [, method, target] = line ?? [];
  return { method, path: target === undefined ? undefined : pathOf(target) };
}
