/** The maximum sizes of a request; larger ones are refused with 413, 414 or 431. */
export const maxBodyBytes = 1024 * 1024;
export const maxTargetBytes = 8 * 1024;
export const maxHeaderBytes = 16 * 1024;

/** The maximum levels of objects and lists in a JSON text; here and below, more is refused with 400. */
export const maxJsonDepth = 500;
/** Members of objects and items of lists in a JSON text, on all levels together, as written. */
export const maxJsonValues = 10_000;

const mebibyte = 1024 * 1024;

/** The bounds of what clients can make the server hold or do at once. Tests lower them. */
export interface HttpLimits {
  /** How long headers, and a whole request, may take to be received. */
  readonly headersTimeoutMillis: number;
  readonly requestTimeoutMillis: number;
  /** The interval at which both are checked. */
  readonly timeoutCheckMillis: number;
  readonly keepAliveMillis: number;
  readonly maxConnections: number;
  /** Requests of one connection that are read while another is under way. */
  readonly maxReadAhead: number;
  /** How long a response may make no write progress. */
  readonly stallMillis: number;
  /** The interval of progress checks. */
  readonly checkEveryMillis: number;
  /** Slow bodies of one client: those that are incomplete after `incompleteAfterMillis`. */
  readonly maxIncompleteOfClient: number;
  readonly incompleteAfterMillis: number;
  /** Memory for requests, responses and streams together. */
  readonly maxMemoryOfClient: number;
  readonly maxMemoryOfAll: number;
  readonly memoryWaitMillis: number;
  /** The event loop's mean delay beyond which requests are refused. */
  readonly maxDelayMillis: number;
  /** Requests without a response; those that wait for the database are among them. */
  readonly maxWaiting: number;
}

export const defaultHttpLimits: HttpLimits = {
  headersTimeoutMillis: 20_000,
  requestTimeoutMillis: 60_000,
  timeoutCheckMillis: 2_000,
  keepAliveMillis: 72_000,
  maxConnections: 10_000,
  maxReadAhead: 16,
  stallMillis: 120_000,
  checkEveryMillis: 250,
  maxIncompleteOfClient: 8,
  incompleteAfterMillis: 1_000,
  maxMemoryOfClient: 32 * mebibyte,
  maxMemoryOfAll: 128 * mebibyte,
  memoryWaitMillis: 2_000,
  maxDelayMillis: 500,
  maxWaiting: 1_000,
};
