import { type Dispatcher, errors } from 'undici';

import { AddressBusyError, ConnectError, type Connection, Connections } from './connections.ts';
import { DestinationError, type DestinationFailure, type Destinations } from './destination.ts';
import { type Outcome, outcomeOf, retryAfterOf } from './schedule.ts';
import { signatureHeaders } from './signature.ts';

/** For the whole of a request, however slowly bytes come. */
const requestMillis = 15_000;
/** Of a response; nothing in it is needed. */
const maxResponseBytes = 4 * 1024;
/** Interim responses (1xx) before the response. */
const maxInterim = 8;

/** Why there is no status. */
export type SendFailure = DestinationFailure | 'CONNECT' | 'TLS' | 'TIMEOUT' | 'PROTOCOL';

export interface SendResult {
  readonly outcome: Outcome;
  readonly status: number | undefined;
  readonly failure: SendFailure | undefined;
  /** Of the failure, in words. */
  readonly cause: string | undefined;
  readonly durationMillis: number;
  /** The receiver asks for this pause. */
  readonly retryAfterMillis: number | undefined;
}

export interface SendRequest {
  readonly url: string;
  /** The same for each attempt. */
  readonly id: string;
  /** JSON. */
  readonly body: string;
  readonly secrets: readonly string[];
  /** Whether the receiver is told that it was sent before. */
  readonly isReplay: boolean;
  /** Whether it may go to addresses that are allowed though they aren't public. */
  readonly isTrusted: boolean;
}

interface SenderOptions {
  readonly destinations: Destinations;
  readonly userAgent: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

class TooLateError extends Error {}

/** Sends signed requests to addresses that others have named, and reads no more of a response than its status. */
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
    const result = (rest: Pick<SendResult, 'outcome'> & Partial<SendResult>): SendResult => ({
      status: undefined,
      failure: undefined,
      cause: undefined,
      retryAfterMillis: undefined,
      durationMillis: Math.round(performance.now() - startedAt),
      ...rest,
    });
    try {
      const { statusCode, headers } = await this.#attempt(request, ending);
      const retryAfter = typeof headers['retry-after'] === 'string' ? headers['retry-after'] : undefined;
      const retryAfterMillis = retryAfterOf(retryAfter, this.#options.now());
      return result({ outcome: outcomeOf(statusCode), status: statusCode, retryAfterMillis });
    } catch (error) {
      if (error instanceof AddressBusyError) return 'busy';
      const failure = failureOf(error);
      return result({ outcome: 'failed', failure, cause: causeOf(error, failure) });
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    this.#connections.close();
  }

  /** A kept connection may have been closed by the receiver just now: then the request is sent once more. */
  async #attempt(request: SendRequest, ending: AbortController): Promise<Dispatcher.ResponseData> {
    const endsAt = performance.now() + requestMillis;
    const url = new URL(request.url);
    const connection = await this.#connections.take(url, request.isTrusted, endsAt);
    try {
      return await this.#request(connection, url, request, ending);
    } catch (error) {
      if (!connection.isReused || !endedCodes.has(codeOf(error))) throw error;
      return this.#request(await this.#connections.open(url, request.isTrusted, endsAt), url, request, ending);
    }
  }

  async #request(
    connection: Connection,
    url: URL,
    { id, body, secrets, isReplay }: SendRequest,
    ending: AbortController,
  ): Promise<Dispatcher.ResponseData> {
    const { userAgent, now } = this.#options;
    let isWhole = false;
    let interim = 0;
    try {
      const response = await connection.client.request({
        method: 'POST',
        path: url.pathname + url.search,
        headers: {
          'content-type': 'application/json',
          'accept-encoding': 'identity',
          'user-agent': userAgent,
          ...(isReplay && { 'webhook-replay': '1' }),
          ...signatureHeaders(id, Math.floor(now() / 1_000), body, secrets),
        },
        body,
        signal: ending.signal,
        onInfo: () => {
          interim += 1;
          if (interim > maxInterim) ending.abort(new Error('too many interim responses'));
        },
      });
      isWhole = await readEnd(response.body);
      return response;
    } finally {
      if (isWhole) this.#connections.release(connection);
      else this.#connections.destroy(connection);
    }
  }
}

/** Whether the body has ended within what is read of it. A failure midway doesn't matter: the status has come. */
async function readEnd(body: Dispatcher.ResponseData['body']): Promise<boolean> {
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += (chunk as Buffer).length;
      if (bytes > maxResponseBytes) return false;
    }
    return true;
  } catch {
    return false;
  }
}

/** The receiver has closed a kept connection. */
const endedCodes: ReadonlySet<unknown> = new Set(['UND_ERR_SOCKET', 'UND_ERR_DESTROYED']);

const networkCodes: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPIPE',
  'ETIMEDOUT',
  'EADDRNOTAVAIL',
  'UND_ERR_SOCKET',
]);

function failureOf(error: unknown): SendFailure {
  if (error instanceof DestinationError) return error.failure;
  if (error instanceof TooLateError) return 'TIMEOUT';
  const cause = error instanceof ConnectError ? error.cause : error;
  const code = codeOf(cause);
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return 'TIMEOUT';
  // Something came, and was no response.
  if (cause instanceof errors.SocketError && (cause.socket?.bytesRead ?? 0) > 0) return 'PROTOCOL';
  if (networkCodes.has(code)) return 'CONNECT';
  return error instanceof ConnectError ? 'TLS' : 'PROTOCOL';
}

const maxCauseCharacters = 200;

/** Of a certificate the problem; nothing of an address that isn't allowed. */
function causeOf(error: unknown, failure: SendFailure): string | undefined {
  if (failure === 'DNS' || failure === 'FORBIDDEN_ADDRESS' || failure === 'TIMEOUT') return undefined;
  const cause = error instanceof ConnectError ? error.cause : error;
  const code = codeOf(cause);
  const words = failure === 'TLS' && cause instanceof Error ? cause.message : undefined;
  const text = [code, words].filter((each) => typeof each === 'string' && each !== '').join(': ');
  // The words are OpenSSL's, in which a receiver's name may be.
  const shown = text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, maxCauseCharacters);
  return shown === '' ? undefined : shown;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
