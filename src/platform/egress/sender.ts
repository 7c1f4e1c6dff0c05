import { type IncomingMessage, request as sendRequest } from 'node:http';

import { type Connection, ConnectTimeoutError, maxBodyBytes, TooLargeError } from './connection.ts';
import { AddressBusyError, ConnectError, Connections } from './connections.ts';
import { DestinationError, type DestinationFailure, type Destinations } from './destination.ts';

/** For the whole of a request, however slowly bytes come. */
const requestMillis = 15_000;
/** Of the head of a response, as the budget of its bytes. */
const maxHeaderSize = 16 * 1024;

/** Why there is no status. */
type SendFailure = DestinationFailure | 'CONNECT' | 'TLS' | 'TIMEOUT' | 'PROTOCOL' | 'TOO_LARGE';

export interface SendResult {
  readonly status: number | undefined;
  readonly failure: SendFailure | undefined;
  /** Of the failure, in words. */
  readonly cause: string | undefined;
  readonly durationMillis: number;
  /** The receiver asks for this pause. */
  readonly retryAfterMillis: number | undefined;
}

interface SendRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: string;
  /** Whether it may go to addresses that are allowed though they aren't public. */
  readonly isTrusted: boolean;
}

interface SenderOptions {
  readonly destinations: Destinations;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

class TooLateError extends Error {}

/** Posts to addresses that others have named, and reads no more of a response than its status. */
export class Sender {
  readonly #options: SenderOptions;
  readonly #connections: Connections;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#connections = new Connections(options.destinations);
  }

  /** Resolves within 15 s. `busy` when too many requests are under way to the receiver's address: nothing was sent. */
  async send(request: SendRequest): Promise<SendResult | 'busy'> {
    const startedAt = performance.now();
    const ending = new AbortController();
    const timer = setTimeout(() => ending.abort(new TooLateError()), requestMillis);
    const result = (rest: Partial<SendResult>): SendResult => ({
      status: undefined,
      failure: undefined,
      cause: undefined,
      retryAfterMillis: undefined,
      durationMillis: Math.round(performance.now() - startedAt),
      ...rest,
    });
    try {
      const { statusCode = 0, headers } = await this.#attempt(request, ending);
      const retryAfterMillis = retryAfterOf(headers['retry-after'], this.#options.now());
      return result({ status: statusCode, retryAfterMillis });
    } catch (error) {
      if (error instanceof AddressBusyError) return 'busy';
      const failure = failureOf(error);
      return result({ failure, cause: causeOf(error, failure) });
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    this.#connections.close();
  }

  /** A kept connection may have been closed or reset just now: then the request is sent once more. */
  async #attempt(request: SendRequest, ending: AbortController): Promise<IncomingMessage> {
    const endsAt = performance.now() + requestMillis;
    const url = new URL(request.url);
    const connection = await this.#connections.take(url, request.isTrusted, endsAt);
    try {
      return await this.#request(connection, url, request, ending);
    } catch (error) {
      const isClosed = endedCodes.has(codeOf(error)) && !ending.signal.aborted && connection.isUnanswered;
      if (!connection.isReused || !isClosed) throw error;
      return this.#request(await this.#connections.open(url, request.isTrusted, endsAt), url, request, ending);
    }
  }

  async #request(
    connection: Connection,
    url: URL,
    request: SendRequest,
    ending: AbortController,
  ): Promise<IncomingMessage> {
    let isWhole = false;
    try {
      connection.allowHead(() => ending.abort(new TooLargeError()));
      const response = await this.#post(connection, url, request, ending.signal);
      connection.allowBody();
      isWhole = await readEnd(response, ending.signal);
      return response;
    } catch (error) {
      // Something came, and was no response.
      if (endedCodes.has(codeOf(error)) && !connection.isUnanswered)
        throw new ProtocolError(undefined, { cause: error });
      throw error;
    } finally {
      if (isWhole) this.#connections.release(connection);
      else this.#connections.destroy(connection);
    }
  }

  #post(
    { agent }: Connection,
    url: URL,
    { body, headers: given }: SendRequest,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const headers = {
      host: url.host,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'accept-encoding': 'identity',
      ...given,
    };
    const path = url.pathname + url.search;
    return new Promise((resolve, reject) => {
      const fail = (error: Error): void => reject(signal.aborted ? (signal.reason as Error) : error);
      const sent = sendRequest({ agent, method: 'POST', path, headers, signal, maxHeaderSize });
      sent.once('response', resolve).on('error', fail);
      // Without a listener Node would end an upgrade without a word.
      sent.on('upgrade', () => fail(new ProtocolError('an upgrade')));
      sent.on('close', () => fail(new ProtocolError('no response')));
      sent.end(body);
    });
  }
}

class ProtocolError extends Error {}

/** Whether the body has ended within what is read of it. A failure midway doesn't matter: the status has come. */
function readEnd(response: IncomingMessage, signal: AbortSignal): Promise<boolean> {
  let bytes = 0;
  return new Promise((resolve) => {
    const cutOff = (): void => resolve(false);
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBodyBytes) cutOff();
    });
    response
      .once('end', () => resolve(response.headers.connection !== 'close'))
      .on('error', cutOff)
      .once('close', cutOff);
    signal.addEventListener('abort', cutOff, { once: true });
  });
}

/** The receiver has closed or reset the connection. */
const endedCodes: ReadonlySet<unknown> = new Set([
  'ECONNRESET',
  'EPIPE',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_WRITE_AFTER_END',
]);

const networkCodes: ReadonlySet<unknown> = new Set([
  ...endedCodes,
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'EADDRNOTAVAIL',
]);

function failureOf(error: unknown): SendFailure {
  if (error instanceof DestinationError) return error.failure;
  if (error instanceof TooLateError) return 'TIMEOUT';
  const cause = error instanceof ConnectError ? error.cause : error;
  const code = codeOf(cause);
  if (cause instanceof ConnectTimeoutError) return 'TIMEOUT';
  if (cause instanceof TooLargeError || code === 'HPE_HEADER_OVERFLOW') return 'TOO_LARGE';
  if (networkCodes.has(code)) return 'CONNECT';
  return error instanceof ConnectError ? 'TLS' : 'PROTOCOL';
}

const maxCauseCharacters = 200;

/** Of a certificate the problem; nothing of an address that isn't allowed. */
function causeOf(error: unknown, failure: SendFailure): string | undefined {
  if (failure === 'DNS' || failure === 'FORBIDDEN_ADDRESS' || failure === 'TIMEOUT') return undefined;
  const cause = error instanceof ConnectError ? error.cause : error;
  const code = codeOf(cause);
  const words = failure === 'TLS' && cause instanceof Error ? wordsOf(cause) : undefined;
  const text = [code, words].filter((each) => typeof each === 'string' && each !== '').join(': ');
  // The words are OpenSSL's, in which a receiver's name may be.
  const shown = text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, maxCauseCharacters);
  return shown === '' ? undefined : shown;
}

/** OpenSSL's reason without its place in the source, and of Node's words those before its hint for whoever runs it. */
function wordsOf(error: Error & { readonly library?: unknown; readonly reason?: unknown }): string | undefined {
  return typeof error.library === 'string' ? String(error.reason) : error.message.split('; ', 1)[0];
}

/** The header's seconds, or what is left until its date (RFC 9110, section 10.2.3). */
function retryAfterOf(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const millis = /^\d{1,9}$/.test(text) ? 1_000 * Number(text) : Date.parse(text) - now;
  return Number.isNaN(millis) ? undefined : Math.max(0, millis);
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
