import { isIP } from 'node:net';

/** Nothing, or a path of unreserved characters below which no page of ours lies. */
const restPrefixPattern =
  /^(?!\/(?:docs|favicon\.ico|graphiql|graphql|healthz|metrics|openapi\.(?:json|yaml)|readyz|robots\.txt|schema\.graphql)(?:\/|$))(?:\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*$/;

export function restPrefix(text: string): string | undefined {
  return restPrefixPattern.test(text) ? text : undefined;
}

export function integerWithin(min: number, max: number): (text: string) => number | undefined {
  return (text) => (/^\d{1,15}$/.test(text) && Number(text) >= min && Number(text) <= max ? Number(text) : undefined);
}

export function workerCount(text: string): 'auto' | number | undefined {
  return text === 'auto' ? text : integerWithin(1, 64)(text);
}

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Node's timers fire at once for delays of more than 24 days. */
export const maxDurationSeconds = 7 * 86_400;

/** The seconds of a duration such as 90s, 15m, 24h or 7d; undefined for any other text. */
export function parseDuration(text: string): number | undefined {
  const [, amount, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  return amount === undefined ? undefined : Number(amount) * (unitSeconds[unit] ?? Number.NaN);
}

export function durationWithin(min: number, max: number): (text: string) => number | undefined {
  return (text) => {
    const seconds = parseDuration(text);
    return seconds !== undefined && seconds >= min && seconds <= max ? seconds : undefined;
  };
}

export function proxies(text: string): false | number | string[] | undefined {
  if (text === 'false') return false;
  if (/^\d+$/.test(text)) return integerWithin(0, 100)(text);
  const addresses = text.split(',').map((address) => address.trim());
  return addresses.every(isNetwork) ? addresses : undefined;
}

/** An address, or a whole network of them: `10.0.0.0/8`. */
function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const family = isIP(address);
  const maxBits = family === 4 ? 32 : 128;
  return family !== 0 && rest.length === 0 && (bits === undefined || integerWithin(1, maxBits)(bits) !== undefined);
}

export function origins(text: string): readonly string[] | undefined {
  if (text === '') return [];
  const list = text.split(',').map((origin) => origin.trim());
  return list.every((origin) => origin === '*' || isOrigin(origin)) ? list : undefined;
}

/** As a browser sends it. A URL's host may have a `*`, which would stand for itself. */
function isOrigin(text: string): boolean {
  return URL.parse(text)?.origin === text && !text.includes('*');
}

export function networks(text: string): readonly string[] | undefined {
  const list = listOf(text);
  return list.every((each) => each.includes('/') && isNetwork(each)) ? list : undefined;
}

const maxReplicas = 16;

/** Hosts with their ports, each once; none for an empty text. */
export function hostsWithPorts(text: string): readonly { readonly host: string; readonly port: number }[] | undefined {
  const list = listOf(text);
  const hosts = list.flatMap((each) => {
    const [, name, digits = ''] = /^([a-z\d](?:[a-z\d._-]*[a-z\d])?|\[[\da-f:.]+\]):(\d+)$/i.exec(each) ?? [];
    const host = name?.replaceAll(/[[\]]/g, '');
    const port = integerWithin(1, 65_535)(digits);
    const isHost = host !== undefined && (name === host || isIP(host) === 6);
    return isHost && port !== undefined ? [{ host, port }] : [];
  });
  const isValid = hosts.length === list.length && new Set(list).size === list.length && list.length <= maxReplicas;
  return isValid ? hosts : undefined;
}

export function ports(text: string): readonly number[] | undefined {
  const list = listOf(text).map(integerWithin(1, 65_535));
  return list.every((port) => port !== undefined) ? list : undefined;
}

function listOf(text: string): string[] {
  return text === '' ? [] : text.split(',').map((each) => each.trim());
}
