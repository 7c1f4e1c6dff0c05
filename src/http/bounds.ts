/** The bounds on what clients can use, by their names in the metrics. */
export const bounds = [
  'tokens',
  'fields',
  'depth',
  'aliases',
  'cost',
  'result_bytes',
  'errors',
  'connection_requests',
  'unread_responses',
  'incomplete_bodies',
  'connections',
  'database_connections',
  'overload',
  'streams',
] as const;

export type Bound = (typeof bounds)[number];

/** Records that something was refused or cut off because it went beyond the bound. */
export type OnRefusal = (bound: Bound) => void;
