/** Several hosts that don't fit together. */
export class UnusableHosts extends Error {
  override readonly name = 'UnusableHosts';
}

const parts = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)([^?#]*)(?:\?([^#]*))?(.*)$/s;

/**
 * The same URL for each of its hosts, in their order: `h1:5432,h2,[::1]:5434` in the authority, or
 * `?host=h1,h2&port=5432` as libpq reads it, with one port for all or one for each. A single host leaves the URL as it
 * is. Throws UnusableHosts.
 */
export function urlsOfHosts(url: string): readonly [string, ...string[]] {
  const [, before = '', authority = '', path = '', query = '', after = ''] = parts.exec(url) ?? [];
  const given = new URLSearchParams(query);
  const hosts = given.get('host')?.split(',') ?? [];
  const ports = given.get('port')?.split(',') ?? [];
  if (authority.includes(',')) {
    if (hosts.length > 0 || ports.length > 0) {
      throw new UnusableHosts(
        'DATABASE_URL names several hosts, and host or port as a parameter too: leave one of them.',
      );
    }
    return authority.split(',').map((host) => before + assertNamed(host) + path + (query && `?${query}`) + after) as [
      string,
    ];
  }
  if (hosts.length < 2 && ports.length < 2) return [url];
  if (ports.length > 1 && ports.length !== hosts.length) {
    throw new UnusableHosts('DATABASE_URL must have one port for all hosts, or as many ports as hosts.');
  }
  return hosts.map((host, index) => {
    given.set('host', assertNamed(host));
    if (ports.length > 1) given.set('port', ports[index] ?? '');
    return `${before}${authority}${path}?${given.toString()}${after}`;
  }) as [string, ...string[]];
}

function assertNamed(host: string): string {
  if (!/^(?::|$)/.test(host)) return host;
  throw new UnusableHosts('DATABASE_URL names several hosts, and one of them is empty: name each.');
}
