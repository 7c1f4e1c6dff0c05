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
