/** The storage for GraphiQL's tabs and its history. */
export type BrowserStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'clear' | 'length'>;

interface HistoryItem {
  headers?: string | undefined;
}

/** The lists of GraphiQL's history, by their names in storage. */
const lists: Readonly<Record<string, string>> = { 'graphiql:queries': 'queries', 'graphiql:favorites': 'favorites' };

/**
 * The browser's storage for a GraphiQL whose history has no headers: its plugin (0.4.4) would keep those of every
 * request, and with them a key that was typed in. What is read again has `headers`, those of the key that the explorer
 * holds now.
 */
export function historyStorage(storage: BrowserStorage, headers: string): BrowserStorage {
  return {
    getItem: (name) => mapHeaders(name, storage.getItem(name), headers),
    setItem: (name, value) => storage.setItem(name, mapHeaders(name, value, undefined) ?? ''),
    removeItem: (name) => storage.removeItem(name),
    clear: () => storage.clear(),
    get length() {
      return storage.length;
    },
  };
}

/** The text of a list with these headers in each item; any other text as it is. */
function mapHeaders(name: string, text: string | null, headers: string | undefined): string | null {
  const list = lists[name];
  if (list === undefined || text === null) return text;
  try {
    const { [list]: items = [] } = JSON.parse(text) as Record<string, HistoryItem[]>;
    for (const item of items) item.headers = headers;
    return JSON.stringify({ [list]: items });
  } catch {
    // Not GraphiQL's own: an empty history.
    return null;
  }
}
