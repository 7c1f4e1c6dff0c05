import type { IncomingMessage } from 'node:http';

import { Refusal } from './refusal.ts';
import { maxHeaderBytes, maxTargetBytes } from './limits.ts';

export function targetTooLong(): Refusal {
  return new Refusal('URI_TOO_LONG', 'The request target is longer than 8 KiB.');
}

export function headersTooLarge(): Refusal {
  return new Refusal('HEADERS_TOO_LARGE', 'The request headers are larger than 16 KiB.');
}

/** RFC 9110, section 7.2: a `uri-host` of RFC 3986, which may be empty, and maybe a port. */
const validHost = /^(?:[\w.~!$&'()*+,;=%-]*|\[[\da-f:.]+\])(?::\d*)?$/i;

/** Checks of a request before routing that Node omits, or to which it sends its own response. */
export function findMalformation(request: IncomingMessage): Refusal | undefined {
  const { url = '', rawHeaders, headers, httpVersionMajor, httpVersionMinor } = request;
  if (url.length > maxTargetBytes) return targetTooLong();
  let headerBytes = 0;
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    // On the wire each name and value has four more bytes between and behind them.
    headerBytes += name.length + (rawHeaders[index + 1]?.length ?? 0) + 4;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  if (headerBytes > maxHeaderBytes) return headersTooLarge();
  const isSinceHttp11 = httpVersionMajor === 1 && httpVersionMinor >= 1;
  if (hosts > 1 || (hosts === 0 && isSinceHttp11)) {
    return new Refusal('BAD_REQUEST', `There must be one Host header, but there are ${hosts}.`);
  }
  if (headers.host !== undefined && !validHost.test(headers.host)) {
    return new Refusal('BAD_REQUEST', 'The Host header must be a name or an address, and maybe a port.');
  }
  const coding = headers['transfer-encoding'];
  // A peer of HTTP/1.0 between us may not know it, and would see requests end elsewhere (RFC 9112, section 6.1).
  if (coding !== undefined && !isSinceHttp11) {
    return new Refusal('BAD_REQUEST', 'HTTP/1.0 has no Transfer-Encoding: send Content-Length.');
  }
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    return new Refusal('BAD_REQUEST', 'The only Transfer-Encoding that is understood is chunked.');
  }
  if (headers.expect && headers.expect.toLowerCase() !== '100-continue') {
    return new Refusal('EXPECTATION_FAILED', 'The only expectation that can be met is 100-continue.');
  }
  return undefined;
}
