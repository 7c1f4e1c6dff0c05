import { randomUUID } from 'node:crypto';
import { STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { Duplex } from 'node:stream';

import type { FastifyInstance } from 'fastify';

import { headersTooLarge, maxTargetBytes, targetTooLong } from '../platform/http/index.ts';
import type { CorsHeaders } from './cors.ts';
import { describeFailure, HttpError } from './error-table.ts';
import { failureResponse } from './failure-response.ts';
import type { ResponseLog } from './observe/request-log.ts';
import { pathOf, type RouteTable } from './route-table.ts';

export interface BrokenRequestContext {
  readonly routeTable: RouteTable;
  readonly server: () => FastifyInstance;
  readonly cors: CorsHeaders;
  readonly responses: ResponseLog;
}

interface ParserError extends Error {
  readonly code?: string;
  /** The last bytes read; the first packet of a request has its request line. */
  readonly rawPacket?: Buffer;
}

/** A refused client may go on sending so long: destroyed at once, it may never read the response. */
const lingerMillis = 2_000;

/** Responds to CONNECT, which has no response of Node's. */
export function refuseTunnel(context: BrokenRequestContext, { headers }: IncomingMessage, socket: Duplex): void {
  const allow = context.routeTable.methodsOf('*').join(', ');
  const message = 'CONNECT is not supported: this is not a proxy.';
  const refusal = new HttpError('METHOD_NOT_ALLOWED', message, { headers: { allow } });
  refuseOnSocket(context, socket, refusal, { method: 'CONNECT', accept: headers.accept });
}

/**
 * Responds in the API's own format to requests that Node's parser rejects.
 *
 * Only where the response can't be mistaken for that of another request: on a connection with nothing under way. A
 * request whose body is broken or too slow gets its one response from Fastify. Otherwise the connection is destroyed.
 */
export function respondToBrokenRequest(context: BrokenRequestContext, error: ParserError, socket: Duplex): void {
  const { connections, bodies } = context.server();
  const connection = connections.of(socket as Socket);
  const current = connection?.current;
  if (error.code === 'ECONNRESET' || !socket.writable) {
    // After our response, further bytes can't be parsed.
    if (!socket.writableEnded) socket.destroy();
  } else if (connection?.isBodyUnfinished === true) {
    // The rest of a body whose request has had its response already.
    closeSoon(socket);
  } else if (current === undefined) {
    const { rawPacket } = error;
    connection?.refuse(() => refuseOnSocket(context, socket, refusalOf(error), requestHeadIn(rawPacket)));
  } else if (!current.req.complete && !current.headersSent) {
    // Its body is broken or too slow. What follows on the connection can't be separated from it.
    current.shouldKeepAlive = false;
    bodies.fail(current.req, refusalOf(error));
  } else {
    socket.destroy();
  }
}

/** The request line and the headers that the response depends on, as far as they are known. */
interface RequestHead {
  readonly method?: string | undefined;
  readonly path?: string | undefined;
  readonly accept?: string | undefined;
  readonly origin?: string | undefined;
}

/** Responds on a connection that has no request, and closes it. */
function refuseOnSocket(context: BrokenRequestContext, socket: Duplex, refusal: HttpError, head: RequestHead): void {
  writeRefusal(context, socket, refusal, head).catch((error: unknown) => {
    context.server().log.error({ err: error }, 'No response could be written to a broken request.');
    socket.destroy();
  });
}

async function writeRefusal(
  context: BrokenRequestContext,
  socket: Duplex,
  refusal: HttpError,
  { method, path, accept, origin }: RequestHead,
): Promise<void> {
  const startedAt = performance.now();
  const requestId = randomUUID();
  const route = method === undefined || path === undefined ? undefined : context.routeTable.find(method, path);
  const format = path === undefined ? 'rest' : context.routeTable.errorFormatOf(path);
  const failure = describeFailure(refusal);
  const { status, headers, body } = failureResponse(failure, { format, requestId, accept });
  const address = addressOf(socket);
  const quota = format === 'text' ? {} : await context.server().authentication.headersFor(address);
  const cors = format === 'text' ? {} : context.cors({ method, origin });
  const record = (isSent: boolean): void => {
    const ended = { requestId, method, path, address, status, code: failure.restCode };
    context.responses.recordRejected(ended, route, performance.now() - startedAt, isSent);
  };
  if (!socket.writable) {
    record(false);
    return;
  }
  const head = Object.entries({
    ...headers,
    ...route?.config.deprecation?.(route.params),
    ...quota,
    ...cors,
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
function requestHeadIn(packet: Buffer | undefined): RequestHead {
  const [head = ''] = packet?.toString('latin1').split('\r\n\r\n', 1) ?? [];
  const [, method, target] = /^([A-Za-z-]{1,20}) ((?:\/|https?:\/\/)\S*)/.exec(head) ?? [];
  const [, accept] = /^accept:(.*)$/im.exec(head) ?? [];
  const [, origin] = /^origin:[ \t]*(\S*)/im.exec(head) ?? [];
  return { method, path: target === undefined ? undefined : pathOf(target), accept, origin };
}
