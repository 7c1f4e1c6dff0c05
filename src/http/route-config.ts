import type { Scope } from '../domain/access/scope.ts';
import type { ErrorFormat } from './failure-response.ts';

/** The headers of a response. */
export type DeprecationNotice = (parameters: Readonly<Record<string, string>>) => Readonly<Record<string, string>>;

/** The `config` of a route. */
export interface RouteConfig {
  /** A public page, outside the API: no key, no quota, and errors as plain text. The paths below it are public too. */
  isPublic?: boolean;
  /** The format of its errors; by default the Error object of REST, and plain text on a public page. */
  errorFormat?: ErrorFormat;
  /** No cache may store a response of it. */
  isNeverStored?: boolean;
  /** Also served under overload: probes must see the state of the process. */
  isServedUnderOverload?: boolean;
  /** The scope that the key must have. */
  scope?: Scope;
  /** The cost depends on the body: the route spends it by `request.meter`. */
  isMeteredByRoute?: boolean;
  /** The operation's name in the metrics; the method and the route by default. */
  operationId?: string;
  /** The route is deprecated; every response of it has the deprecation headers. */
  deprecation?: DeprecationNotice;
}

declare module 'fastify' {
  interface FastifyContextConfig extends RouteConfig {}
}
