import { httpBounds } from '../../platform/http/index.ts';

/** The bounds on what clients can use, by their names in the metrics. */
export const bounds = [
  ...httpBounds,
  'tokens',
  'fields',
  'documents',
  'depth',
  'aliases',
  'complexity',
  'result_bytes',
  'errors',
  'database_connections',
  'streams',
  'event_streams',
] as const;

export type Bound = (typeof bounds)[number];

/** Called for each request, response or connection that is refused or cut off because of the bound. */
export type OnRefusal = (bound: Bound) => void;
