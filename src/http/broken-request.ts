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
import { noteFailure, tellRefused, type OnAnswered } from './request-log.ts';
import { pathOf, type RouteTable } from './route-table.ts';

export interface BrokenRequestContext {
  readonly connections: Connections;
  readonly routes: RouteTable;
  readonly server: () => FastifyInstance;
  readonly onAnswered: OnAnswered | undefined;
  readonly renderErrorPage: RenderErrorPage | undefined;
}

interface ParserError extends Error {
  readonly code?: string;
  /** What had just arrived; the first packet of a request shows its request line. */
  readonly rawPacket?: Buffer;
}

/** How long a refused client may go on sending before the connection is cut: cut at once, it may never see the answer. */
const lingerMillis = 2_000;

/**
 * Responds in the API's own form to requests that Node's parser rejects.
 *
 * Only where an answer can't be taken for somebody else's: on a connection with nothing under way, or to the one request whose
 * body is broken or too slow. Otherwise the connection is destroyed.
 */
export function answerBrokenRequest(context: BrokenRequestContext, error: ParserError, socket: Duplex): void {
  const [current, ...others] = context.connections.responsesOn(socket as Socket);
  if (error.code === 'ECONNRESET' || !socket.writable) {
    // After our answer the rest of what the client sends is garbage by definition.
    if (!socket.writableEnded) socket.destroy();
  } else if (context.connections.isAnsweredEarly(socket as Socket)) {
    // The rest of a body whose request has had its response: a second one would answer nothing.
    closeSoon(socket);
  } else if (current === undefined) {
    void refuseOnSocket(context, socket, refusalOf(error), askedIn(error.rawPacket));
  } else if (others.length === 0 && !current.req.complete && !current.headersSent) {
    void refuseBody(context, current, refusalOf(error));
  } else {
    socket.destroy();
  }
}

/** What the first line of a request says. */
interface Asked {
  readonly method?: string | undefined;
  readonly path?: string | undefined;
}

/** Answers on a connection that has no request, and closes it. */
export async function refuseOnSocket(
  context: BrokenRequestContext,
  socket: Duplex,
  refusal: HttpError,
  { method, path }: Asked,
): Promise<void> {
  const startedAt = performance.now();
  const requestId = randomUUID();
  const route = method === undefined || path === undefined ? undefined : context.routes.find(method, path);
  const format = path === undefined ? 'rest' : context.routes.errorFormatOf(path);
  const failure = describeFailure(refusal);
  const { status, headers, body } = failureResponse(failure, { format, requestId });
  const quota = format === 'text' ? {} : await context.server().gate.headersFor(addressOf(socket));
  const tell = (hasLeft: boolean): void => {
    const millis = performance.now() - startedAt;
    const refused = { requestId, method, path, route, status, code: failure.restCode, millis, hasLeft };
    tellRefused(context.server().log, refused, context.onAnswered);
  };
  if (!socket.writable) {
    tell(false);
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
  // The answer to HEAD has no content (RFC 9110, section 9.3.2).
  const content = method === 'HEAD' ? '' : body;
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join('')}\r\n${content}`);
  closeSoon(socket, () => tell(socket.writableFinished));
}

/** Ends our side, and takes in what the client still sends, so that it sees the response. */
function closeSoon(socket: Duplex, onEnd?: () => void): void {
  socket.end(onEnd);
  socket.resume();
  const cut = setTimeout(() => socket.destroy(), lingerMillis);
  socket.once('close', () => clearTimeout(cut));
}

/** Fastify still waits for the body, and learns from the closed connection that it needn't. */
async function refuseBody(context: BrokenRequestContext, response: ServerResponse, refusal: HttpError): Promise<void> {
  const { url = '/', method = '', headers: asked, socket } = response.req;
  const path = pathOf(url);
  const format = context.routes.errorFormatOf(path);
  const described = describeFailure(refusal);
  const requestId = requestIdOf(response.req);
  const { renderErrorPage } = context;
  const failure = failureResponse(described, { format, requestId, accept: asked.accept, renderErrorPage });
  // What follows on the connection can't be separated from the broken body.
  response.shouldKeepAlive = false;
  const quota = format === 'text' ? {} : await context.server().gate.headersFor(addressOf(socket));
  if (response.headersSent || response.destroyed) return;
  noteFailure(response, described.restCode);
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

/** The packet may also be a later one of the same request: then it is as good as certain that nothing is found. */
function askedIn(packet: Buffer | undefined): Asked {
  const line = /^([A-Za-z-]{1,20}) ((?:\/|https?:\/\/)\S*)/.exec(packet?.toString('latin1') ?? '');
  const [, method, target] = line ?? [];
  return { method, path: target === undefined ? undefined : pathOf(target) };
}
