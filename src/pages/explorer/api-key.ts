const storageName = 'petstore:key';

/** Pages of this origin ask here for the key of an explorer in another tab. */
const channelName = 'petstore:key';
const question = 'Which key?';

/** The placeholder in the headers editor, in place of the key. */
const mask = '••••••••';

/** The key that this tab has been given. It survives a reload, and ends with the tab. */
export function storedKey(): string | undefined {
  try {
    return window.sessionStorage.getItem(storageName) ?? undefined;
  } catch {
    // The browser keeps nothing for this page: the key lives until the next reload.
    return undefined;
  }
}

export function storeKey(key: string | undefined): void {
  try {
    if (key === undefined) window.sessionStorage.removeItem(storageName);
    else window.sessionStorage.setItem(storageName, key);
  } catch {
    // As above.
  }
}

/** Tells the key of this tab to the forms of the reference when they ask. Nothing keeps it that outlives the tab. */
export function answerForKey(): void {
  const channel = new BroadcastChannel(channelName);
  channel.addEventListener('message', ({ data }) => {
    const key = storedKey();
    if (data === question && key !== undefined) channel.postMessage({ key });
  });
}

/** The key with most of it hidden, for a screen that others see: enough to distinguish two keys. */
export function masked(key: string): string {
  return key.length < 16 ? mask : mask + key.slice(-4);
}

/** The first text of the headers editor. */
export function headersWith(key: string | undefined): Record<string, string> {
  return key === undefined ? {} : { Authorization: `Bearer ${masked(key)}` };
}

/** The headers as they are sent: the key where its mask stands. Throws for a mask without a stored key. */
export function unmasked(
  headers: Readonly<Record<string, unknown>>,
  key: string | undefined,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      const text = key === undefined ? String(value) : String(value).replaceAll(masked(key), key);
      if (text.includes(mask)) throw new Error(`the header ${name} holds the mask of a key that is forgotten`);
      return [name, text];
    }),
  );
}
