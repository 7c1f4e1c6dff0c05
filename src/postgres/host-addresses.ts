import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';

/**
 * None for the directory of a socket. Rejects when the signal is aborted: a resolver may take longer than anybody
 * waits.
 */
export async function addressesOf(host: string, signal: AbortSignal): Promise<readonly (LookupAddress | undefined)[]> {
  if (host.startsWith('/')) return [undefined];
  const family = isIP(host);
  if (family !== 0) return [{ address: host, family }];
  const ended = Promise.withResolvers<never>();
  const abort = (): void => ended.reject(new Error(`The name ${host} was not resolved in time.`));
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([lookup(host, { all: true }), ended.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
