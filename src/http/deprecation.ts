import type { FastifyReply, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route is on its way out, and every response of it says so. */
    deprecation?: Deprecation;
  }
}

export interface Deprecation {
  readonly since: Date;
  readonly sunset: Date;
  /** The page about it. */
  readonly page: string;
  /** What to use instead, with the path's parameters in braces. */
  readonly successor: string;
}

/** `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and the links that belong to them, whatever is answered in the end. */
export function announceDeprecation(request: FastifyRequest, reply: FastifyReply): void {
  const deprecation = request.routeOptions.config?.deprecation;
  if (deprecation === undefined) return;
  const { since, sunset, page, successor } = deprecation;
  const parameters = request.params as Readonly<Record<string, string>>;
  const address = successor.replaceAll(/\{(\w+)\}/g, (_braces, name: string) =>
    encodeURIComponent((parameters[name] ?? '').toWellFormed()),
  );
  void reply.headers({
    deprecation: `@${since.getTime() / 1000}`,
    sunset: sunset.toUTCString(),
    link: `<${page}>; rel="deprecation"; type="text/html", <${address}>; rel="successor-version"`,
  });
}
