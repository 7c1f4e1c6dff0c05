import type { IncomingMessage } from 'node:http';
import { isIP, isIPv4, isIPv6 } from 'node:net';

import ipaddr from 'ipaddr.js';

import { freeLimits } from '../domain/access/plan.ts';
import { addressPrefix } from '../platform/callers/index.ts';
import type { QuotaSubject } from '../platform/quotas/index.ts';
import type { KeyDirectory } from '../keys/key-directory.ts';

/** The key of a request, the reason why it is invalid, or undefined without one. */
export type SentKey = { readonly key: string } | { readonly fault: string } | undefined;

/** The id of the key that a request has, if it is known without asking the database; it may have expired. */
export function knownClientOf(request: IncomingMessage, keys: Pick<KeyDirectory, 'knownIdOf'>): string | undefined {
  const sent = sentKey(request);
  return sent !== undefined && 'key' in sent ? keys.knownIdOf(sent.key, request.socket) : undefined;
}

const bearer = /^bearer +(\S+)$/i;

/** A scheme as people write them (RFC 9110, section 11.1), short enough to be repeated. */
const scheme = /^[A-Za-z0-9._+-]{1,20}(?= |$)/;

const howToSend = 'Send Authorization: Bearer KEY, or X-API-Key: KEY.';

/** Both at once must agree, and each may be there once: we never guess which of two keys is meant. */
export function sentKey({ headers, rawHeaders }: Pick<IncomingMessage, 'headers' | 'rawHeaders'>): SentKey {
  const { authorization, 'x-api-key': apiKey } = headers;
  if (apiKey === '') return { fault: `The header X-API-Key is empty. ${howToSend}` };
  if (apiKey?.includes(' '))
    return { fault: `The header X-API-Key has spaces in it, but a key has none. ${howToSend}` };
  if (authorization === undefined) return apiKey === undefined ? undefined : { key: String(apiKey) };
  if (isRepeated(rawHeaders, 'authorization')) {
    return { fault: `There are several Authorization headers, but there must be one. ${howToSend}` };
  }
  const key = bearer.exec(authorization)?.[1];
  if (key === undefined) return { fault: `${faultOf(authorization)} ${howToSend}` };
  if (apiKey === undefined || apiKey === key) return { key };
  return { fault: 'Authorization and X-API-Key have two different keys: send one of them, or the same key in both.' };
}

function faultOf(authorization: string): string {
  const found = scheme.exec(authorization)?.[0];
  if (found === undefined) return 'The header Authorization has no scheme.';
  if (found.toLowerCase() !== 'bearer') {
    return `The header Authorization has the scheme ${JSON.stringify(found)}, which is not supported.`;
  }
  const isEmpty = authorization.trim().length === found.length;
  return isEmpty ? 'The header Authorization says Bearer, but has no key.' : 'A key has no spaces in it.';
}

/** Whether a header is there more than once: Node keeps the first of some, and joins others. */
export function isRepeated(rawHeaders: readonly string[], name: string): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const text = rawHeaders[index];
    if (text?.length === name.length && text.toLowerCase() === name) count += 1;
  }
  return count > 1;
}

/** Clients at this address without a valid key: together they have the limits of the Free plan. */
export function addressSubject(address: string | undefined): QuotaSubject {
  return { id: addressPrefix + networkOf(address ?? ''), limits: freeLimits, bans: undefined, isAnonymous: true };
}

/** What a client can't change at will: an IPv4 address, or the first 64 bits of IPv6. All invalid ones are one. */
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
