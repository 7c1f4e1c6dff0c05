import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

import { type Callers, Share } from '../callers/index.ts';
import { Bodies } from './body.ts';
import { type BoundsOptions, defaultHttpLimits, type HttpLimits, maxHeaderBytes, maxTargetBytes } from './limits.ts';
import { ClientConnections } from './connections.ts';
import { Overload } from './overload.ts';
import { Refusal } from './refusal.ts';

/**
 * Above our own limits, so that what exceeds those is still a request with a path and a method, and is refused as one.
 */
const parserMaxHeaderBytes = 32 * 1024;

const memoryRetrySeconds = 5;

export interface NodeServerOptions extends Omit<BoundsOptions, 'limits'> {
  readonly limits: Partial<HttpLimits> | undefined;
  /** Responds to CONNECT, which has no response of Node's. */
  readonly onConnect: (request: IncomingMessage, socket: Duplex) => void;
}

/** The bounds of a server. Fastify's has each of them, too. */
export interface BoundingParts {
  readonly callers: Callers;
  readonly memory: Share;
  readonly connections: ClientConnections;
  readonly bodies: Bodies;
  readonly overload: Overload;
}

export interface NodeServer extends BoundingParts {
  readonly server: Server;
  /** Sets the request handler; call it once. */
  onRequest(listener: RequestListener): void;
}

/** Node's server below Fastify, what bounds it, and our own responses wherever Node would send its own. */
export function createNodeServer(options: NodeServerOptions): NodeServer {
  const limits = { ...defaultHttpLimits, ...options.limits };
  const server = createServer({
    maxHeaderSize: parserMaxHeaderBytes,
    requireHostHeader: false,
    headersTimeout: limits.headersTimeoutMillis,
    requestTimeout: limits.requestTimeoutMillis,
    keepAliveTimeout: limits.keepAliveMillis,
    connectionsCheckingInterval: limits.timeoutCheckMillis,
    // A request without a body has no stream to end. Its `aborted` stays false, even when the client disconnects.
    optimizeEmptyRequests: true,
  });
  const bounds: BoundsOptions = { ...options, limits };
  const memory = createMemory(bounds);
  const connections = new ClientConnections(server, memory, bounds);
  const bodies = new Bodies(bounds);
  const overload = new Overload(bounds, connections);
  server.on('connect', (request, socket) => {
    // Node removes its own listener before this event: without one, a reset would end the process.
    socket.on('error', () => socket.destroy());
    connections.of(request.socket)?.refuse(() => options.onConnect(request, socket));
  });
  const onRequest = (listener: RequestListener): void => {
    const listen: RequestListener = (request, response) => {
      // The router takes `*`, which only OPTIONS knows, for `/`.
      if (request.url === '*' && request.method !== 'OPTIONS') request.url = '/*';
      connections.accept(request, response, listener);
    };
    server.on('request', listen);
    server.on('checkExpectation', listen);
    server.on('checkContinue', (request, response) => {
      continueWhenRead(request, response);
      server.emit('request', request, response);
    });
  };
  return { server, callers: options.callers, memory, connections, bodies, overload, onRequest };
}

/** The one account of bodies, results and what clients haven't read of their responses. */
function createMemory({ callers, onRefusal, limits }: BoundsOptions): Share {
  const { maxMemoryOfClient: ofClient, maxMemoryOfAll: ofAll, memoryWaitMillis } = limits;
  return new Share(callers.accounts, {
    ofClient,
    ofAll,
    waitMillis: memoryWaitMillis,
    refuse: (limit) => {
      onRefusal('memory');
      const message =
        limit === 'client'
          ? `The requests of this client, and the responses that it hasn't read, hold ${ofClient} bytes already: read them, or close their connections.`
          : 'Too many large requests and responses are under way or wait to be read. Try again in a few seconds.';
      return new Refusal('UNAVAILABLE', message, { retryAfterSeconds: memoryRetrySeconds });
    },
  });
}

/**
 * Asks for a body that waits for it (`Expect: 100-continue`) when somebody begins to read it: a request that is refused
 * before has the refusal instead. Then the expectation is met, and its header gone.
 */
function continueWhenRead(request: IncomingMessage, response: ServerResponse): void {
  request.once('resume', () => {
    // Node discards the bodies of requests that have had their response.
    if (response.headersSent) return;
    delete request.headers.expect;
    if (!request.complete) response.writeContinue();
  });
}

export function targetTooLong(): Refusal {
  return new Refusal('URI_TOO_LONG', 'The request target is longer than 8 KiB.');
}

export function headersTooLarge(): Refusal {
  return new Refusal('HEADERS_TOO_LARGE', 'The request headers are larger than 16 KiB.');
}

/** RFC 9110, section 7.2: a `uri-host` of RFC 3986, which may be empty, and maybe a port. */
const validHost = /^(?:[\w.~!$&'()*+,;=%-]*|\[[\da-f:.]+\])(?::\d*)?$/i;

/** Checks of a request before routing that Node omits, or to which it sends its own response. */
export function findMalformation(request: IncomingMessage): Refusal | undefined {
  const { url = '', rawHeaders, headers, httpVersionMajor, httpVersionMinor } = request;
  if (url.length > maxTargetBytes) return targetTooLong();
  let headerBytes = 0;
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    // On the wire each name and value has four more bytes between and behind them.
    headerBytes += name.length + (rawHeaders[index + 1]?.length ?? 0) + 4;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  if (headerBytes > maxHeaderBytes) return headersTooLarge();
  const isSinceHttp11 = httpVersionMajor === 1 && httpVersionMinor >= 1;
  if (hosts > 1 || (hosts === 0 && isSinceHttp11)) {
    return new Refusal('BAD_REQUEST', `There must be one Host header, but there are ${hosts}.`);
  }
  if (headers.host !== undefined && !validHost.test(headers.host)) {
    return new Refusal('BAD_REQUEST', 'The Host header must be a name or an address, and maybe a port.');
  }
  const coding = headers['transfer-encoding'];
  // A peer of HTTP/1.0 between us may not know it, and would see requests end elsewhere (RFC 9112, section 6.1).
  if (coding !== undefined && !isSinceHttp11) {
    return new Refusal('BAD_REQUEST', 'HTTP/1.0 has no Transfer-Encoding: send Content-Length.');
  }
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    return new Refusal('BAD_REQUEST', 'The only Transfer-Encoding that is understood is chunked.');
  }
  if (headers.expect && headers.expect.toLowerCase() !== '100-continue') {
    return new Refusal('EXPECTATION_FAILED', 'The only expectation that can be met is 100-continue.');
  }
  return undefined;
}
