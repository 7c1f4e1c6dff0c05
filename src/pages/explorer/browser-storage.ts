import type { BrowserStorage } from './history-storage.ts';

const memory = new Map<string, string>();

const memoryStorage: BrowserStorage = {
  getItem: (name) => memory.get(name) ?? null,
  setItem: (name, value) => memory.set(name, value),
  removeItem: (name) => memory.delete(name),
  clear: () => memory.clear(),
  get length() {
    return memory.size;
  },
};

/** The browser's storage; in a browser that keeps nothing for this page, one that lasts until the next reload. */
export function browserStorage(): BrowserStorage {
  try {
    return window.localStorage;
  } catch {
    return memoryStorage;
  }
}
