import { eventStreamType, findOperation, isSubscription } from './subscription.ts';

/** An operation as a link carries it, and as a tab holds it. */
export interface Operation {
  readonly query: string;
  /** JSON. */
  readonly variables?: string | undefined;
}

/** An operation of a document that may have several: then it is the one of this name. */
interface NamedOperation extends Operation {
  readonly operationName?: string | undefined;
}

/**
 * A shell command that sends the operation, with these headers and `$KEY` for the key, whichever way it is sent: the
 * key itself is never in it. Everything else stands between single quotes, so that the shell takes it as it is.
 */
export function curlFor(
  { query, variables, operationName }: NamedOperation,
  headers: Readonly<Record<string, unknown>>,
  endpoint: string,
): string {
  const others = Object.entries(headers).filter(([name]) => !/^(?:authorization|x-api-key|content-type)$/i.test(name));
  const values: unknown = variables?.trim() ? JSON.parse(variables) : undefined;
  const neededName = findOperation(query, undefined) === undefined ? operationName : undefined;
  const isStream = isSubscription(query, neededName);
  return [
    // Without -N, curl would show the results of a subscription in blocks.
    `curl -sS ${isStream ? '-N ' : ''}${quoted(endpoint)} -H "Authorization: Bearer $KEY"`,
    ...[
      'Content-Type: application/json',
      ...(isStream ? [`Accept: ${eventStreamType}`] : []),
      ...others.map(([name, value]) => `${name}: ${String(value)}`),
    ].map((header) => `-H ${quoted(header)}`),
    `-d ${quoted(JSON.stringify({ query, operationName: neededName, variables: values }))}`,
  ].join(' \\\n  ');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
