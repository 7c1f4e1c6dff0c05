/** A refusal by a bound. The owner of the protocol decides status and code on the wire. */
export type BoundCode =
  | 'BAD_REQUEST'
  | 'EXPECTATION_FAILED'
  | 'HEADERS_TOO_LARGE'
  | 'PAYLOAD_TOO_LARGE'
  | 'RATE_LIMITED'
  | 'UNAVAILABLE'
  | 'URI_TOO_LONG';

interface RefusalOptions {
  /** Sent with the response: `Allow`, `WWW-Authenticate`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Whole seconds after which the same request may succeed. */
  readonly retryAfterSeconds?: number;
}

/**
 * A refusal by the transport, which the log line of its response and the metrics show. Its message is written for
 * clients and never contains an internal text.
 */
export class Refusal<Code extends string = BoundCode> extends Error {
  override readonly name = 'HttpError';
  readonly code: Code;
  readonly headers: Readonly<Record<string, string>>;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: Code, message: string, options: RefusalOptions = {}) {
    super(message);
    this.code = code;
    this.headers = options.headers ?? {};
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}
