import type { IncomingMessage } from 'node:http';

import type { Caller, Callers } from '../callers/index.ts';
import type { HttpLimits } from './limits.ts';

/** The bounds on what clients can use, by their names in the metrics. */
export const bounds = [
  'tokens',
  'fields',
  'documents',
  'depth',
  'aliases',
  'complexity',
  'result_bytes',
  'errors',
  'connection_requests',
  'waiting_requests',
  'memory',
  'unread_responses',
  'incomplete_bodies',
  'connections',
  'database_connections',
  'overload',
  'streams',
  'event_streams',
] as const;

export type Bound = (typeof bounds)[number];

/** Called for each request, response or connection that is refused or cut off because of the bound. */
export type OnRefusal = (bound: Bound) => void;

/** What all that bounds a server is made with. */
export interface BoundsOptions {
  readonly callers: Callers;
  /** Who has sent a request, as far as that is known before it begins. */
  readonly callerOf: (request: IncomingMessage) => Pick<Caller, 'id'>;
  readonly onRefusal: OnRefusal;
  readonly limits: HttpLimits;
}
