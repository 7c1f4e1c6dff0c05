import type { Operation } from './curl.ts';

export interface Address {
  readonly key: string | undefined;
  readonly operation: Operation | undefined;
}

/**
 * Takes what the address brings, `#key=…`, `#query=…&variables=…` or `?query=…&variables=…`, out of it, so that neither
 * the address bar, nor the history, nor a bookmark keeps a key, and a reload doesn't open the operation once more.
 *
 * A fragment never leaves the browser, so no server's log has seen it either; a key is taken from nowhere else.
 */
export function takeFromAddress(): Address {
  const { hash, search, pathname } = window.location;
  const [fragment, query] = [new URLSearchParams(hash.slice(1)), new URLSearchParams(search)];
  const source = fragment.has('query') ? fragment : query;
  const text = source.get('query');
  if (fragment.has('key') || text !== null) window.history.replaceState(null, '', pathname);
  return {
    key: fragment.get('key')?.trim() || undefined,
    operation: text === null ? undefined : { query: text, variables: source.get('variables') ?? undefined },
  };
}

/** A link to this operation, without the key. */
export function linkTo({ query, variables }: Operation): string {
  const parameters = new URLSearchParams({ query });
  if (variables !== undefined && variables.trim() !== '') parameters.set('variables', variables);
  const { origin, pathname } = window.location;
  // Encoded with %20, since some chat programs and terminals end a link at a plus sign.
  return `${origin}${pathname}#${parameters.toString().replaceAll('+', '%20')}`;
}
