import { constants } from 'node:crypto';
import { Agent } from 'node:http';
import { connect, isIP, type Socket } from 'node:net';
import {
  connect as connectTls,
  createSecureContext,
  getCACertificates,
  type SecureContext,
  type TLSSocket,
} from 'node:tls';

import { BoundedSocket } from './bounded-socket.ts';
import { hostOf, portOf } from './destination.ts';

const idleMillis = 10_000;
/** A chain of a dozen usual certificates. */
const maxHandshakeBytes = 32 * 1024;
const maxHeadBytes = 16 * 1024;
/** After the head; nothing in it is needed. */
export const maxBodyBytes = 4 * 1024;

/** The receiver has sent more than is read of it. */
export class TooLargeError extends Error {}

export class ConnectTimeoutError extends Error {}

const ciphers =
  'TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256:ECDHE+AESGCM:ECDHE+CHACHA20:ECDHE+AES';

/**
 * One for all connections: it takes a fifth of a handshake to make. Without finite-field groups, of whose size the
 * server would decide: a handshake with one of 10,000 bits takes more than a second.
 */
export function createReceiverContext(certificates: string | undefined): SecureContext {
  return createSecureContext({
    minVersion: 'TLSv1.2',
    ciphers,
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    ...(certificates !== undefined && { ca: [...getCACertificates('default'), certificates] }),
  });
}

/** Node's agent, for one connection that is there: it never opens another one. */
class ConnectionAgent extends Agent {
  #socket: TLSSocket | undefined;

  constructor(socket: TLSSocket) {
    super({ keepAlive: true, maxSockets: 1, timeout: idleMillis });
    this.#socket = socket;
  }

  override createConnection(): Socket {
    const socket = this.#socket;
    this.#socket = undefined;
    if (socket === undefined) throw Object.assign(new Error('the connection was closed'), { code: 'ECONNRESET' });
    return socket;
  }
}

/** One connection to the address that was checked, with a request at a time, and a budget of bytes for each. */
export class Connection {
  readonly agent: Agent;
  /** Of the origin, for receivers that are trusted or not: they may have other addresses. */
  readonly key: string;
  readonly address: string;
  /** Monotonic time. */
  readonly openedAt = performance.now();
  isReused = false;
  readonly #bounded: BoundedSocket;
  readonly #socket: TLSSocket;
  #readBefore = 0;
  #hasHead = false;

  constructor(bounded: BoundedSocket, socket: TLSSocket, key: string, address: string) {
    this.#bounded = bounded;
    this.#socket = socket;
    this.agent = new ConnectionAgent(socket);
    this.key = key;
    this.address = address;
  }

  get isDestroyed(): boolean {
    return this.#socket.destroyed || this.#bounded.destroyed;
  }

  /** Whether nothing of a response has come. */
  get isUnanswered(): boolean {
    return this.#socket.bytesRead === this.#readBefore;
  }

  /** An attempt begins. */
  allowHead(onExceeded: () => void): void {
    this.#readBefore = this.#socket.bytesRead;
    this.#hasHead = false;
    this.#bounded.allow(maxHeadBytes, () => {
      // The head may be in what has been read: it is parsed by then.
      setImmediate(() => setImmediate(() => this.#hasHead || onExceeded()));
    });
  }

  /** The head is complete. What comes beyond a short body isn't read. */
  allowBody(): void {
    this.#hasHead = true;
    this.#bounded.allow(maxBodyBytes, () => this.destroy());
  }

  onClose(listener: () => void): void {
    this.#bounded.once('close', listener);
  }

  /** Whatever it was doing; its failure is known already. */
  destroy(): void {
    this.agent.destroy();
    this.#socket.destroy();
    this.#bounded.destroy();
  }
}

interface Target {
  readonly url: URL;
  readonly key: string;
  readonly address: string;
  readonly secureContext: SecureContext;
}

/** Connects to the address; the certificate is checked for the URL's host. */
export async function openConnection(
  { url, key, address, secureContext }: Target,
  timeout: number,
): Promise<Connection> {
  // Of which a certificate has no dot at the end.
  const host = hostOf(url).replace(/\.$/, '');
  const socket = connect({ host: address, port: portOf(url), noDelay: true });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const bounded = new BoundedSocket(socket, maxHandshakeBytes, () => reject(new TooLargeError()));
  const secure = connectTls({
    socket: bounded,
    host,
    servername: isIP(host) === 0 ? host : '',
    secureContext,
    // Whatever NODE_TLS_REJECT_UNAUTHORIZED is.
    rejectUnauthorized: true,
  });
  const timer = setTimeout(() => reject(new ConnectTimeoutError()), timeout);
  bounded.on('error', reject);
  secure.on('error', reject).once('secureConnect', resolve);
  secure.once('close', () => reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' })));
  const connection = new Connection(bounded, secure, key, address);
  try {
    await promise;
    return connection;
  } catch (error) {
    connection.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
