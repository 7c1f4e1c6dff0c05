import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** The network between one node and a server: while it is cut, nothing passes, and nobody hears of it. */
export class Network {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isCut = false;

  static async to(serverPort: number): Promise<Network> {
    const server = createServer().listen(0, '127.0.0.1').unref();
    await once(server, 'listening');
    return new Network(server, serverPort);
  }

  private constructor(server: Server, serverPort: number) {
    this.#server = server;
    server.on('connection', (client) => this.#join(client, connect(serverPort, '127.0.0.1')));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  cut(): void {
    this.#isCut = true;
  }

  /** What was lost isn't sent again, so the connections end. */
  mend(): void {
    this.#isCut = false;
    for (const socket of this.#sockets) socket.destroy();
  }

  close(): void {
    this.#server.close();
    this.mend();
  }

  #join(client: Socket, server: Socket): void {
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(from);
      from
        .on('error', () => undefined)
        .on('data', (chunk: Buffer) => this.#isCut || to.write(chunk))
        .once('close', () => {
          this.#sockets.delete(from);
          if (!this.#isCut) to.destroy();
        });
    }
  }
}
