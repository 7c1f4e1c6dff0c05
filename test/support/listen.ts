import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

import { atEnd } from './at-end.ts';

/** Has a server listen on a free port of loopback until the test ends, or its file. Resolves with the port. */
export async function listen(server: Server, host = '127.0.0.1'): Promise<number> {
  await once(server.listen(0, host), 'listening');
  atEnd(() => server.close());
  return (server.address() as AddressInfo).port;
}

/**
 * Listens between clients and the server at the port: `join` passes on what each connection says. When one side ends, so
 * does the other. Resolves with its own port.
 */
export function listenBefore(port: number, join: (client: Socket, server: Socket) => void): Promise<number> {
  const proxy = createServer((client) => {
    const server = connect(port, '127.0.0.1');
    client.on('error', () => undefined).on('close', () => server.destroy());
    server.on('error', () => undefined).on('close', () => client.destroy());
    join(client, server);
  });
  return listen(proxy);
}
