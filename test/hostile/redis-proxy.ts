import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Between the service and Redis: it may take its time, or reply with what Redis would never say. */
export class RedisProxy {
  readonly #sockets = new Set<Socket>();
  readonly #port: number;
  /** How long each reply takes. */
  delayMillis = 0;
  #nonsense: string | undefined;

  static async start(redisUrl: string): Promise<RedisProxy> {
    const server = createServer().listen(0, '127.0.0.1').unref();
    await new Promise((resolve) => server.once('listening', resolve));
    const proxy = new RedisProxy((server.address() as AddressInfo).port);
    server.on('connection', (socket) => proxy.#serve(socket, Number(new URL(redisUrl).port)));
    return proxy;
  }

  private constructor(port: number) {
    this.#port = port;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.#port}`;
  }

  /** From now on the reply to every command; undefined is Redis' own again, on new connections. */
  reply(nonsense: string | undefined): void {
    this.#nonsense = nonsense;
    if (nonsense === undefined) for (const socket of this.#sockets) socket.destroy();
  }

  #serve(client: Socket, redisPort: number): void {
    const redis = connect(redisPort, '127.0.0.1').unref();
    this.#sockets.add(client.unref());
    client.once('close', () => {
      this.#sockets.delete(client);
      redis.destroy();
    });
    redis.once('close', () => client.destroy());
    client
      .on('error', () => undefined)
      .on('data', (chunk: Buffer) => {
        if (this.#nonsense === undefined) redis.write(chunk);
        else client.write(this.#nonsense.repeat(String(chunk).match(/^\*\d+\r\n\$/gm)?.length ?? 0));
      });
    redis
      .on('error', () => undefined)
      .on('data', (chunk) => {
        if (this.delayMillis === 0) client.write(chunk);
        else setTimeout(() => client.destroyed || client.write(chunk), this.delayMillis);
      });
  }
}
