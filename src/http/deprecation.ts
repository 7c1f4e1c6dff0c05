import { maxTargetBytes } from '../platform/http/index.ts';
import type { DeprecationNotice } from './route-table.ts';

export interface Deprecation {
  readonly since: Date;
  readonly sunset: Date;
  /** The page about it. */
  readonly page: string;
  /** The path that replaces it, with its parameters in braces. */
  readonly successor: string;
}

/** The same without a successor. */
export function deprecationHeaders({ since, sunset, page }: Omit<Deprecation, 'successor'>) {
  return {
    deprecation: `@${since.getTime() / 1000}`,
    sunset: sunset.toUTCString(),
    link: `<${page}>; rel="deprecation"; type="text/html"`,
  };
}

/** `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and the links that belong to them. */
export function deprecationNotice({ successor, ...deprecation }: Deprecation): DeprecationNotice {
  const { link: about, ...lasting } = deprecationHeaders(deprecation);
  // Every second part is the name of a parameter.
  const parts = successor.split(/[{}]/);
  return (parameters) => {
    const address = parts.map((part, index) => (index % 2 === 0 ? part : encoded(parameters[part]))).join('');
    // We would refuse a longer target, and the header could exceed the client's limit.
    const link = address.length > maxTargetBytes ? about : `${about}, <${address}>; rel="successor-version"`;
    return { ...lasting, link };
  };
}

function encoded(text = ''): string {
  return encodeURIComponent(text.toWellFormed());
}
