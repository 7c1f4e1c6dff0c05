import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

import { type Callers, Share } from '../callers/index.ts';
import { Bodies } from './body.ts';
import type { BoundsOptions } from './bounds.ts';
import { ClientConnections } from './connections.ts';
import { defaultHttpLimits, type HttpLimits } from './limits.ts';
import { Overload } from './overload.ts';
import { Refusal } from './refusal.ts';

/**
 * Above our own limits, so that what exceeds those is still a request with a path and a method, and is refused as one.
 */
const parserMaxHeaderBytes = 32 * 1024;

const memoryRetrySeconds = 5;

export interface NodeServerOptions extends Omit<BoundsOptions, 'limits'> {
  readonly limits: Partial<HttpLimits> | undefined;
}

/** What bounds a server. Fastify's has each of them, too. */
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
  /** Sets what responds to CONNECT, which has no response of Node's. */
  onConnect(respond: (request: IncomingMessage, socket: Duplex) => void): void;
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
  const onConnect = (respond: (request: IncomingMessage, socket: Duplex) => void): void => {
    server.on('connect', (request, socket) => {
      // Node removes its own listener before this event: without one, a reset would end the process.
      socket.on('error', () => socket.destroy());
      respond(request, socket);
    });
  };
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
  return { server, callers: options.callers, memory, connections, bodies, overload, onRequest, onConnect };
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
