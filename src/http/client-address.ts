import { isIP, isIPv4, isIPv6 } from 'node:net';

import ipaddr from 'ipaddr.js';

import { freeLimits } from '../domain/access/plan.ts';
import type { QuotaSubject } from '../platform/quotas/index.ts';

/** Clients at this address without a valid key: together they have the limits of the Free plan. */
export function addressSubject(address: string | undefined): QuotaSubject {
  return { id: `address:${networkOf(address ?? '')}`, limits: freeLimits, bans: undefined, isAnonymous: true };
}

/**
 * The part of an address that a client can't change at will: an IPv4 address in any notation, or the first 64 bits of
 * IPv6.
 *
 * All invalid addresses count as one.
 */
function networkOf(text: string): string {
  if (isIPv4(text)) return text;
  const address = parse(text);
  if (address === undefined) return 'unknown';
  if (address instanceof ipaddr.IPv4) return address.toString();
  const groups = address.parts.slice(0, 4).map((group) => group.toString(16));
  return `${groups.join(':')}::/64`;
}

/** How much of a client's address log lines have. */
export type AddressLogging = 'full' | 'network' | 'off';

/** The address as log lines have it. Its network is its first 24 bits (IPv4) or 48 (IPv6), which many clients share. */
export function loggedAddress(text: string | undefined, logging: AddressLogging): string | undefined {
  if (text === undefined || logging === 'off') return undefined;
  if (logging === 'full' && isIP(text) !== 0) return text;
  const address = parse(text);
  // A trusted proxy passed on what isn't one.
  if (address === undefined) return 'unknown';
  if (logging === 'full') return address.toString();
  const [kind, bits] = address instanceof ipaddr.IPv4 ? [ipaddr.IPv4, 24] : [ipaddr.IPv6, 48];
  return `${kind.networkAddressFromCIDR(`${address.toString()}/${bits}`).toString()}/${bits}`;
}

/** Some proxies pass a port on, too: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
const withPort = /^(?:([\d.]{7,15})|\[([^\]]{2,60})\])(?::\d{1,5})?$/;

function parse(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const [, v4, v6] = withPort.exec(text) ?? [];
  const [address = ''] = (v4 ?? v6 ?? text).split('%', 1);
  // ipaddr.js accepts more than addresses, such as `1.2`.
  return isIPv4(address) || isIPv6(address) ? ipaddr.process(address) : undefined;
}
