import type { IncomingMessage } from 'node:http';

import type { Caller, Callers } from '../callers/index.ts';
import type { HttpLimits } from './limits.ts';

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

/** What all that bounds a server is made with. */
export interface BoundsOptions {
  readonly callers: Callers;
  /** Who has sent a request, as far as that is known before it begins. */
  readonly callerOf: (request: IncomingMessage) => Pick<Caller, 'id'>;
  /** Whether a request begins before others that wait: a probe. */
  readonly isUrgent: (request: IncomingMessage) => boolean;
  /** Called for each request, response or connection that is refused or cut off because of the bound. */
  readonly onRefusal: (bound: (typeof httpBounds)[number]) => void;
  readonly limits: HttpLimits;
}
