/**
 * Takes the key out of `#key=…`, so that neither the address bar, nor the history, nor a bookmark keeps it.
 *
 * A fragment never leaves the browser, so no server's log has seen it either.
 */
export function takeKeyFromAddress(): string | undefined {
  const key = new URLSearchParams(window.location.hash.slice(1)).get('key');
  if (key === null) return undefined;
  window.history.replaceState(null, '', window.location.pathname + window.location.search);
  return key.trim() || undefined;
}

/** What the headers editor begins with. */
export function headersWith(key: string | undefined): Record<string, string> {
  return key === undefined ? {} : { Authorization: `Bearer ${key}` };
}
