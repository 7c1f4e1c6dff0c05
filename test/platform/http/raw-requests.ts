import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';

import type { FastifyInstance } from 'fastify';

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
