import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP, Socket } from 'node:net';

/**
 * None for the directory of a socket. Rejects when the signal is aborted: a resolver may take longer than anybody
 * waits.
 */
export async function addressesOf(host: string, signal: AbortSignal): Promise<readonly (LookupAddress | undefined)[]> {
  if (host.startsWith('/')) return [undefined];
  const family = isIP(host);
  if (family !== 0) return [{ address: host, family }];
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new Error(`The name ${host} was not resolved in time.`));
    signal.addEventListener('abort', abort, { once: true });
    lookup(host, { all: true }).then(resolve, reject);
  });
}

/**
 * A socket that connects to this address of the host that it is given. The name stays what TLS verifies, and isn't
 * resolved a second time. Without an address it connects as any socket does.
 */
export class AddressSocket extends Socket {
  readonly #address: LookupAddress | undefined;

  constructor(address: LookupAddress | undefined) {
    super();
    this.#address = address;
  }

  /** As `pg` calls it: with a port and a host, or with the path of a socket. */
  override connect(...target: unknown[]): this {
    const address = this.#address;
    const [port, host] = target;
    if (typeof host !== 'string') return super.connect(port as string);
    if (address === undefined) return super.connect(port as number, host);
    return super.connect({
      port: Number(port),
      host,
      autoSelectFamily: false,
      lookup: (_name, _options, done) => done(null, address.address, address.family),
    });
  }
}
