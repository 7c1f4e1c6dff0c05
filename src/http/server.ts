import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import {
  fastify,
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';

import { Accounts, type Caller, Callers } from '../platform/callers/index.ts';
import { redactSecrets } from '../domain/access/redaction.ts';
import {
  decorateServer,
  clientGone,
  continueAfter,
  createNodeServer,
  findMalformation,
  type HttpLimits,
} from '../platform/http/index.ts';
import type { OnRefusal } from './observe/bounds.ts';
import { type BrokenRequestContext, refuseTunnel, respondToBrokenRequest } from './broken-request.ts';
import { clientClosedRequest, createLog, type LogStream, type OnResponse, ResponseLog } from './observe/request-log.ts';
import type { OnServed } from './observe/served-requests.ts';
import { type AddressLogging, addressSubject } from './client.ts';
import { allowOrigins, type CorsHeaders } from './cors.ts';
import { describeFailure, HttpError } from './error-table.ts';
import { failureResponse, logFailure, type RenderErrorPage } from './failure-response.ts';
import { isWhole, type MatchedRoute, pathOf, type RouteConfig, RouteTable } from './route-table.ts';

declare module 'fastify' {
  interface FastifyInstance {
    readonly routeTable: RouteTable;
  }
  interface FastifyReply {
    /** The code of the failure in the response, for the log. */
    failureCode: string | undefined;
  }
}

/** The bounds of what clients can make the server hold or do at once. Tests lower them. */
export type ServerLimits = HttpLimits & {
  /** How long work begins in one tick of the event loop; see `TickTime`. */
  readonly tickMillis: number;
};

export interface ServerOptions {
  /** The callers of the process; without them the server has its own. */
  readonly callers?: Callers | undefined;
  /** The key of a request, if it is known without asking the database. */
  readonly knownClientOf?: ((request: IncomingMessage) => string | undefined) | undefined;
  /** The proxies whose X-Forwarded-For counts: none, so many in front, or these addresses. */
  readonly trustProxy?: false | number | string[] | undefined;
  /** The origins whose pages may use the API in a browser. */
  readonly corsOrigins?: readonly string[] | undefined;
  /** Made here when left out. */
  readonly log?: FastifyBaseLogger | undefined;
  readonly logLevel: string;
  readonly logAddresses?: AddressLogging | undefined;
  /** Where the log goes; stdout when left out. */
  readonly logStream?: LogStream | undefined;
  readonly limits?: Partial<ServerLimits> | undefined;
  readonly onRefusal?: OnRefusal | undefined;
  readonly onResponse?: OnResponse | undefined;
  readonly onServed?: OnServed | undefined;
  /** The page that a browser gets for a failure of a public page; plain text when left out. */
  readonly renderErrorPage?: RenderErrorPage | undefined;
}

const emptyPolicy = "default-src 'none'";

const bodyCutOff = new HttpError('BAD_REQUEST', 'The request body was cut off.');

/** A client that disconnects while it sends, or before a stream is sent to it: Node's errors, none of ours. */
function disconnectionOf(error: unknown, { raw }: FastifyRequest): Error | undefined {
  if (error === raw.errored) return bodyCutOff;
  const isPremature = (error as Partial<NodeJS.ErrnoException> | undefined)?.code === 'ERR_STREAM_PREMATURE_CLOSE';
  return isPremature && raw.socket.destroyed ? clientGone : undefined;
}

const probe = /^\/(?:healthz|readyz)(?:\?|$)/;

function isProbe({ url = '' }: IncomingMessage): boolean {
  return probe.test(url);
}

/** Node's limit on the whole target comes first, so an id may have any length: it is then unknown. */
const routerOptions = { maxParamLength: 64 * 1024 };

/** The helpers that responses are made with. */
interface ServerContext extends BrokenRequestContext {
  readonly renderErrorPage: RenderErrorPage | undefined;
}

/** Has no routes yet: `registerApi` adds those of the API; public pages are added with `isPublic`. */
export function createServer(options: ServerOptions): FastifyInstance {
  const { logLevel: level, logAddresses: addresses = 'full', logStream: stream = process.stdout, limits } = options;
  const { log = createLog(level, addresses, stream), onResponse, onServed } = options;
  const { callers = new Callers(new Accounts(), limits?.tickMillis), knownClientOf = () => undefined } = options;
  const { trustProxy = false, corsOrigins = [], onRefusal = () => undefined, renderErrorPage } = options;
  const addressOf = ({ remoteAddress }: Socket): Caller => callers.for(addressSubject(remoteAddress).id);
  const callerOf = (request: IncomingMessage): Caller => {
    const client = knownClientOf(request);
    return client === undefined ? addressOf(request.socket) : callers.for(client);
  };
  const onConnect = (request: IncomingMessage, socket: Duplex): void => refuseTunnel(context, request, socket);
  const node = createNodeServer({ callers, callerOf, addressOf, isProbe, limits, onRefusal, onConnect });
  const routeTable = new RouteTable(routerOptions);
  const responses = new ResponseLog({ stream, level, addresses, onResponse, onServed });
  const cors = allowOrigins(corsOrigins);
  const context: ServerContext = { routeTable, server: () => server, cors, responses, renderErrorPage };
  const server: FastifyInstance = fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: requestIdOf,
    trustProxy: typeof trustProxy === 'number' ? (_address, hop) => hop < trustProxy : trustProxy,
    routerOptions,
    return503OnClosing: false,
    clientErrorHandler: (error: Error, socket) => respondToBrokenRequest(context, error, socket),
    frameworkErrors: (error, request, reply) => refuseUndecodable(context, error, request, reply),
    serverFactory: (handle) => {
      node.onRequest(handle);
      return node.server;
    },
  });
  decorateServer(server, node);
  server.decorate('routeTable', routeTable);
  server.decorateReply('failureCode', undefined);
  server.decorateRequest('route');
  server.decorateRequest('operation', undefined);
  server.decorateRequest('graphql', undefined);
  server.decorateRequest('deprecated', undefined);
  server.decorateRequest('recordStream');
  server.addHook('onRoute', (route) => routeTable.add(route));
  server.addHook('onRequest', (request, reply, done) => {
    prepareReply(context, request, reply, routeOf(request));
    done(findRefusal(request, reply));
  });
  server.setErrorHandler((error, request, reply) => sendFailure(context, error, request, reply));
  return server;
}

/** A path that can't be decoded reaches neither Fastify's router nor a hook of the API. */
function refuseUndecodable(context: ServerContext, error: Error, request: FastifyRequest, reply: FastifyReply): void {
  const { routeTable, authentication } = request.server;
  prepareReply(context, request, reply, routeTable.find(request.method, pathOf(request.url)) ?? noRoute);
  const headers = authentication.headersFor(request.ip).then((figures) => {
    void reply.headers(figures);
  });
  continueAfter(headers, reply, (failure) => sendFailure(context, failure ?? error, request, reply));
}

/** Why a request is refused before anything is done for it. */
function findRefusal({ raw, route, server }: FastifyRequest, reply: FastifyReply): Error | undefined {
  const malformation = findMalformation(raw);
  // The next request on the connection can't be trusted to be parsed right.
  if (malformation !== undefined) reply.raw.shouldKeepAlive = false;
  else if (route.config.isServedUnderOverload !== true) return server.overload.findRefusal(raw);
  return malformation;
}

function prepareReply(
  { cors, responses }: ServerContext,
  request: FastifyRequest,
  reply: FastifyReply,
  route: MatchedRoute,
): void {
  request.route = route;
  void reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff');
  // Pages that load something set a policy of their own.
  if (route.config.isPublic === true) void reply.header('content-security-policy', emptyPolicy);
  else void reply.headers(cors(crossOriginRequest(request)));
  void reply.headers(route.config.deprecation?.(route.params) ?? {});
  responses.record(request, reply);
}

function sendFailure(
  { routeTable, renderErrorPage }: ServerContext,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const cause = disconnectionOf(error, request) ?? error;
  const failure = describeFailure(cause);
  logFailure(error, failure, request);
  if (cause !== clientGone) reply.failureCode = failure.restCode;
  const { status, headers, body } = failureResponse(failure, {
    format: routeTable.errorFormatOf(pathOf(request.url)),
    requestId: request.id,
    accept: request.headers.accept,
    renderErrorPage,
  });
  // Fastify would close the connection after a refused body, so a client that goes on sending may never read why.
  // Node discards the rest. A client that waits to send it may go on with another request instead.
  const isSending = reply.raw.shouldKeepAlive && request.headers.expect === undefined;
  if (isSending && reply.hasHeader('connection')) void reply.removeHeader('connection');
  void reply
    .code(cause === clientGone ? clientClosedRequest : status)
    .headers(headers)
    .send(body);
}

const noRoute: MatchedRoute = { url: undefined, config: {}, params: {} };

function routeOf(request: FastifyRequest): MatchedRoute {
  const { url, config } = request.routeOptions as { readonly url?: string; readonly config?: RouteConfig };
  const params = request.params as MatchedRoute['params'];
  return isWhole(params) ? { url, config: config ?? {}, params } : noRoute;
}

function crossOriginRequest({ method, headers }: FastifyRequest): Parameters<CorsHeaders>[0] {
  return { method, origin: headers.origin, requestedHeaders: headers['access-control-request-headers'] };
}

const acceptable = /^[A-Za-z0-9._-]{1,128}$/;

/** The client's own if it is harmless and has no key in it; a new one is kept in the headers for later calls. */
function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  if (typeof given === 'string' && acceptable.test(given) && redactSecrets(given) === given) return given;
  const fresh = randomUUID();
  request.headers['x-request-id'] = fresh;
  return fresh;
}
