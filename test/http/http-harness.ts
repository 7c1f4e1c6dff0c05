import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';

import type { FastifyInstance } from 'fastify';

import { registerApi, type ApiOptions, type ApiRoutes } from '../../src/http/api.ts';
import { renderErrorPage } from '../../src/pages/error-page.ts';
import { registerExplorer } from '../../src/pages/explorer.routes.ts';
import { registerHealth, type HealthOptions } from '../../src/http/observe/health.ts';
import { registerPages } from '../../src/pages/landing.routes.ts';
import { createServer, type ServerOptions } from '../../src/http/server.ts';
import { anyDelay } from '../support/any-delay.ts';
import { admitAll } from '../support/admit-all.ts';

export interface HttpHarness {
  readonly server: FastifyInstance;
  /** The lines of the log so far. */
  readonly log: Record<string, unknown>[];
}

type Options = Partial<ServerOptions> &
  Partial<HealthOptions> &
  Partial<ApiOptions> & {
    readonly routes?: ApiRoutes;
    readonly pages?: (server: FastifyInstance) => void;
    readonly builtExplorer?: string;
    readonly hasSchema?: boolean;
  };

/** The HTTP layer alone, with a few routes instead of REST and GraphQL. */
export async function startHttp(options: Options = {}): Promise<HttpHarness> {
  const {
    checkReady = async () => ({}),
    isDraining = () => false,
    checkEveryMillis,
    routes,
    pages,
    ...others
  } = options;
  const { authentication = admitAll(), builtExplorer = '/nowhere', hasSchema = true, ...rest } = others;
  const log: Record<string, unknown>[] = [];
  const logStream = { write: (line: string) => void log.push(JSON.parse(line)) };
  const limits = { ...anyDelay, ...rest.limits };
  const server = createServer({ logLevel: 'debug', logStream, renderErrorPage, ...rest, limits });
  registerHealth(server, { checkReady, isDraining, ...(checkEveryMillis === undefined ? {} : { checkEveryMillis }) });
  registerPages(server);
  pages?.(server);
  registerExplorer(server, builtExplorer, { introspection: hasSchema });
  await registerApi(server, { authentication }, [exampleRoutes, ...(routes === undefined ? [] : [routes])]);
  await server.ready();
  return { server, log };
}

async function exampleRoutes(api: FastifyInstance): Promise<void> {
  api.addContentTypeParser('application/json', (request, payload, done) => {
    request.server.bodies.read(request, payload, (error, body) =>
      error === null ? done(null, body.toString()) : done(error),
    );
  });
  api.get('/things', async () => ['a thing']);
  api.post('/things', async (request, reply) => reply.code(201).send({ body: request.body ?? null }));
  api.patch('/things/:id', async (request) => request.params);
  const config = { errorFormat: 'graphql', isNeverStored: true } as const;
  api.route({ method: ['GET', 'POST'], url: '/graphql', config, handler: async () => ({ data: {} }) });
}

export async function portOf(server: FastifyInstance): Promise<number> {
  await server.listen({ port: 0, host: '127.0.0.1' });
  return (server.server.address() as AddressInfo).port;
}

export interface RawResponse {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** A request of a key; its connection stays open unless it says otherwise. */
export function requestText(path: string, key = 'any', connection: 'keep-alive' | 'close' = 'keep-alive'): string {
  return `GET ${path} HTTP/1.1\r\nHost: x\r\nX-Principal: ${key}\r\nConnection: ${connection}\r\n\r\n`;
}

/** The response to a request of a key, on a connection of its own. */
export function respond(port: number, path: string, key?: string): Promise<RawResponse> {
  return responseTo(port, requestText(path, key, 'close'));
}

/** Opens a connection and sends the text as it is. */
export async function send(port: number, text: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}

/** Everything that the server sends on the connection until it closes it. */
export async function receive(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  if (!socket.closed) await once(socket, 'close');
  return Buffer.concat(chunks).toString();
}

/** The one response to the text, on a connection of its own that the server closes. */
export async function responseTo(port: number, text: string): Promise<RawResponse> {
  return parseResponse(await receive(await send(port, text)));
}

export function parseResponse(text: string): RawResponse {
  const [head = '', ...body] = text.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = lines.map((line) => {
    const [name = '', ...value] = line.split(': ');
    return [name.toLowerCase(), value.join(': ')] as const;
  });
  return {
    status: Number(statusLine.split(' ')[1]),
    headers: Object.fromEntries(headers),
    body: body.join('\r\n\r\n'),
  };
}
