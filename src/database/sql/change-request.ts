import type { Parameter, Session } from '../../platform/postgres/index.ts';

// The triggers that write events read from a setting of the transaction which request has made a change. The statement
// that changes a row sets it, so that a write needs no further one.

/** The parameter for the setting: the client's id and the request's. Empty for work of the service's own. */
export function requestOf({ caller: { id, requestId } }: Session): string {
  return requestId === undefined ? '' : `${id}:${requestId}`;
}

/** That of the rows of a statement, one for each in their order; one for all where they are the same. */
export function commonRequest(requests: readonly Parameter[]): string {
  const [first, ...others] = requests;
  return others.every((other) => other === first) ? String(first) : requests.join(',');
}

/** A condition that is always true, and is evaluated for each row that is written. */
export function setsRequest(placeholder: string): string {
  return `${setting(placeholder)} is not null`;
}

/** The same, evaluated once for all rows. */
export function setsRequestOnce(placeholder: string): string {
  return `(select ${setting(placeholder)}) is not null`;
}

function setting(placeholder: string): string {
  return `set_config('petstore.request', ${placeholder}::text, true)`;
}
