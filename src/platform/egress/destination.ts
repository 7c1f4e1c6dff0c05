import { promises as dns } from 'node:dns';
import { isIP } from 'node:net';

import ipaddr from 'ipaddr.js';

import { within } from '../background.ts';

const maxUrlCharacters = 2_048;
const httpsPort = 443;

/** Why nothing is sent: for who reads attempts, every address that isn't allowed looks alike. */
export type DestinationFailure = 'DNS' | 'FORBIDDEN_ADDRESS';

export class DestinationError extends Error {
  readonly failure: DestinationFailure;

  constructor(failure: DestinationFailure) {
    super(failure);
    this.name = 'DestinationError';
    this.failure = failure;
  }
}

export interface DestinationRules {
  /** Networks that are allowed though they aren't public, such as `10.1.0.0/16`. */
  readonly allow?: readonly string[];
  /** Ports besides 443. */
  readonly ports?: readonly number[];
  /** Authorities that are trusted besides Node's, as PEM. */
  readonly certificates?: string | undefined;
  /** Servers that names are asked of, `host:port`; those of the system when left out. */
  readonly nameServers?: readonly string[] | undefined;
}

/** For how long the resolution of a name is waited for: a lost packet is sent again within that. */
const resolveMillis = 2_000;
/** Each is checked. */
const maxAddresses = 32;
const nameServerRules = { timeout: 600, tries: 2 };

/**
 * Networks that `ipaddr.js` (2.5.0) calls unicast and that aren't public: the host's agent in Azure, and IPv6's second
 * range for documentation (RFC 9637).
 */
const forbidden = ['168.63.129.16/32', '3fff::/20'].map((cidr) => ipaddr.parseCIDR(cidr));

/** Global unicast (RFC 4291, section 2.4): all other IPv6 addresses are something else, or not given to anybody. */
const globalIPv6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Of IPv4, where a translator that a network has for itself would lead: its prefix is anybody's guess. */
const internalRanges: ReadonlySet<string> = new Set(['private', 'loopback', 'linkLocal', 'carrierGradeNat']);

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = readonly [Address, number];

/** Where requests may go: which URLs may be given, and which addresses a name may have. */
export class Destinations {
  readonly #allow: readonly Network[];
  readonly #ports: ReadonlySet<number>;
  readonly #resolver = new dns.Resolver(nameServerRules);
  readonly certificates: string | undefined;

  /** Throws for a network that isn't one. */
  constructor({ allow = [], ports = [], certificates, nameServers }: DestinationRules = {}) {
    this.certificates = certificates;
    this.#allow = allow.map((cidr) => ipaddr.parseCIDR(cidr));
    this.#ports = new Set([httpsPort, ...ports]);
    if (nameServers !== undefined) this.#resolver.setServers(nameServers);
  }

  /** A URL's fault, as a clause after it; undefined when requests may go there. Its name isn't resolved. */
  refusalOf(text: string, isTrusted: boolean): string | undefined {
    if (text.length > maxUrlCharacters) return `has more than ${maxUrlCharacters.toLocaleString('en')} characters`;
    if (!URL.canParse(text)) return 'is not a URL, such as https://example.com/webhooks';
    const url = new URL(text);
    if (url.protocol !== 'https:') return 'does not begin with https://';
    if (url.username !== '' || url.password !== '') return 'has a user or a password';
    if (text.includes('#')) return 'has a fragment';
    if (!this.#ports.has(portOf(url))) return `has a port other than ${[...this.#ports].join(', ')}`;
    const host = hostOf(url);
    return isIP(host) !== 0 && !this.isAllowed(host, isTrusted) ? 'has an address that is not allowed' : undefined;
  }

  /** Whether an address is public or, for a receiver that is trusted, allowed all the same. */
  isAllowed(text: string, isTrusted: boolean): boolean {
    if (!ipaddr.isValid(text) || text.includes('%')) return false;
    const address = ipaddr.parse(text);
    return (isTrusted && this.#allow.some((network) => isIn(address, network))) || isPublic(address);
  }

  /** The addresses of a URL's host now, all of them allowed. Throws DestinationError. */
  async addressesOf(url: URL, isTrusted: boolean): Promise<readonly string[]> {
    const host = hostOf(url);
    const addresses = isIP(host) === 0 ? await this.#resolve(host) : [host];
    if (!addresses.every((address) => this.isAllowed(address, isTrusted)))
      throw new DestinationError('FORBIDDEN_ADDRESS');
    return addresses;
  }

  /** Names below `localhost` aren't asked for (RFC 6761, section 6.3). */
  async #resolve(name: string): Promise<readonly string[]> {
    if (/(^|\.)localhost\.?$/i.test(name)) return ['127.0.0.1'];
    const answers = Promise.allSettled([this.#resolver.resolve4(name), this.#resolver.resolve6(name)]);
    const found = (await within(resolveMillis, answers)) ?? [];
    const addresses = found.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
    if (addresses.length === 0 || addresses.length > maxAddresses) throw new DestinationError('DNS');
    return addresses;
  }
}

/** Without the brackets of an IPv6 address. */
export function hostOf(url: URL): string {
  return url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
}

export function portOf(url: URL): number {
  return url.port === '' ? httpsPort : Number(url.port);
}

function isPublic(address: Address): boolean {
  if (forbidden.some((network) => isIn(address, network))) return false;
  if (address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv4 || (isIn(address, globalIPv6) && !isTranslated(address));
}

/** IPv4 that is translated or tunnelled, whatever the network before it: ISATAP (RFC 5214), and NAT64 (RFC 6052). */
function isTranslated({ parts }: ipaddr.IPv6): boolean {
  const [, , , , first = 0, second = 0, high = 0, low = 0] = parts;
  if (second === 0x5efe && (first === 0 || first === 0x0200)) return true;
  if (first !== 0 || second !== 0) return false;
  const embedded = new ipaddr.IPv4([high >> 8, high & 0xff, low >> 8, low & 0xff]);
  return internalRanges.has(embedded.range()) || forbidden.some((network) => isIn(embedded, network));
}

function isIn(address: Address, [network, bits]: Network): boolean {
  return address.kind() === network.kind() && address.match(network, bits);
}
