import type { FastifyRequest } from 'fastify';

/** A host with or without a port, as it may be written into a shell command. */
const plainHost = /^(?:[\w.-]{1,253}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i;

/**
 * The address by which the client reaches this server: `https://store.example`.
 *
 * `X-Forwarded-Proto` and `X-Forwarded-Host` count only where TRUST_PROXY trusts the peer (Fastify sees to that), and
 * only with values that can be a scheme or a host; otherwise the connection's own decide.
 */
export function ownAddress(request: FastifyRequest): string {
  const scheme = request.protocol.toLowerCase();
  const hosts = [request.host, request.raw.headers.host ?? ''];
  const own = request.raw.socket as { readonly encrypted?: boolean };
  return `${isWebScheme(scheme) ? scheme : own.encrypted === true ? 'https' : 'http'}://${hosts.find(isPlain) ?? 'localhost'}`;
}

function isWebScheme(scheme: string): boolean {
  return scheme === 'http' || scheme === 'https';
}

function isPlain(host: string): boolean {
  return plainHost.test(host);
}
