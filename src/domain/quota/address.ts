import { isIPv4, isIPv6 } from 'node:net';

import { freeLimits } from '../access/plan.ts';
import type { QuotaSubject } from './counter-store.ts';

/** Those who come from this address without a valid key: together they have the figures of the Free plan. */
export function addressSubject(address: string | undefined): QuotaSubject {
  // Node forgets the address of a connection that has been reset.
  return { id: `address:${networkOf(address ?? '')}`, limits: freeLimits, bans: undefined, isAnonymous: true };
}

/**
 * What one client can't change at will: an IPv4 address, however it is written, or the first 64 bits of an IPv6 address.
 *
 * Whatever isn't an address counts as one and the same.
 */
function networkOf(text: string): string {
  const [address = ''] = text.split('%', 1);
  if (isIPv4(address)) return address;
  if (!isIPv6(address)) return 'unknown';
  const groups = groupsOf(address);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (isMapped) {
    const [high = 0, low = 0] = groups.slice(6);
    return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
  }
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`;
}

/** The eight groups of a valid IPv6 address. */
function groupsOf(address: string): number[] {
  const hexadecimal = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...bytes: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = bytes.slice(0, 4).map(Number);
    return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  });
  const [head = [], tail = []] = hexadecimal
    .split('::')
    .map((half) => (half === '' ? [] : half.split(':').map((group) => Number.parseInt(group, 16))));
  return [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail];
}
