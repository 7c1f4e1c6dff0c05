import { isIPv4, isIPv6 } from 'node:net';

import ipaddr from 'ipaddr.js';

import { freeLimits } from '../domain/access/plan.ts';
import type { QuotaSubject } from '../domain/quota/counter-store.ts';

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
  const [address = ''] = text.split('%', 1);
  if (isIPv4(address)) return address;
  // ipaddr.js accepts more than addresses, such as `1.2`.
  if (!isIPv6(address)) return 'unknown';
  const parsed = ipaddr.IPv6.parse(address);
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().toString();
  const groups = parsed.parts.slice(0, 4).map((group) => group.toString(16));
  return `${groups.join(':')}::/64`;
}
