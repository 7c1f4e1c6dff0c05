import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

import type { Caller, Callers } from '../callers/index.ts';

/** The bounds of this part on what clients can use, by their names in the metrics. */
export const httpBounds = [
  'connection_requests',
  'waiting_requests',
  'memory',
  'unread_responses',
  'incomplete_bodies',
  'connections',
  'overload',
] as const;

export interface BoundsOptions {
  readonly callers: Callers;
  /** Who has sent a request, as far as that is known before it begins. */
  readonly callerOf: (request: IncomingMessage) => Pick<Caller, 'id'>;
  /** The account of the address at the other end of a connection. */
  readonly addressOf: (socket: Socket) => Pick<Caller, 'id'>;
  /** Whether a request is a probe, which goes before others that wait while there is time for probes. */
  readonly isProbe: (request: IncomingMessage) => boolean;
  /** Called for each request, response or connection that is refused or cut off because of the bound. */
  readonly onRefusal: (bound: (typeof httpBounds)[number]) => void;
  readonly limits: HttpLimits;
}

/** The maximum sizes of a request; larger ones are refused with 413, 414 or 431. */
export const maxBodyBytes = 1024 * 1024;
export const maxTargetBytes = 8 * 1024;
export const maxHeaderBytes = 16 * 1024;

/** The maximum levels of objects and lists in a JSON text; here and below, more is refused with 400. */
export const maxJsonDepth = 500;
/** Members of objects and items of lists in a JSON text, on all levels together, as written. */
export const maxJsonValues = 10_000;

const mebibyte = 1024 * 1024;

export const defaultHttpLimits = {
  /** How long headers, and a whole request, may take to be received. */
  headersTimeoutMillis: 20_000,
  requestTimeoutMillis: 60_000,
  /** The interval at which both are checked. */
  timeoutCheckMillis: 2_000,
  keepAliveMillis: 72_000,
  maxConnections: 10_000,
  /** Requests of one connection that are read while another is under way. */
  maxReadAhead: 16,
  /** How long a response may make no write progress. */
  stallMillis: 120_000,
  /** The interval of progress checks. */
  checkEveryMillis: 250,
  /** Probes of one address in a second that go before others; further ones wait with them. */
  maxProbesOfAddress: 20,
  /** Slow bodies of one client: those that are incomplete after `incompleteAfterMillis`. */
  maxIncompleteOfClient: 8,
  incompleteAfterMillis: 1_000,
  /** Memory for requests, responses and streams together. */
  maxMemoryOfClient: 32 * mebibyte,
  maxMemoryOfAll: 128 * mebibyte,
  memoryWaitMillis: 2_000,
  /** The event loop's mean delay beyond which requests are refused. */
  maxDelayMillis: 500,
  /** Requests without a response; those that wait for the database are among them. */
  maxWaiting: 1_000,
};

/** The bounds of what clients can make the server hold or do at once. Tests lower them. */
export type HttpLimits = Readonly<typeof defaultHttpLimits>;
