import type { Scope } from '../domain/access/scope.ts';
import type { ErrorFormat } from './failure-response.ts';

/** The headers that a request is answered with. */
export type DeprecationNotice = (parameters: Readonly<Record<string, string>>) => Readonly<Record<string, string>>;

/** Everything that a route may say of itself, in its `config`. */
export interface RouteConfig {
  /** A page for everybody, outside the API: no key, no quota, and errors in plain words. It owns the paths below it too. */
  isPublic?: boolean;
  /** What its errors look like; by default the Error object of REST, and plain words on a public page. */
  errorFormat?: ErrorFormat;
  /** No cache may store a response of it. */
  isNeverStored?: boolean;
  /** Served under overload, too: those who ask have to know how the process is. */
  isServedUnderOverload?: boolean;
  /** What the key must be allowed to do. */
  scope?: Scope;
  /** The price is known only when the body has been read: the route takes it by `request.meter`. */
  isPricedByRoute?: boolean;
  /** What the operation is called in the metrics; the method and the route when left out. */
  operationId?: string;
  /** The route is on its way out, and every response of it says so. */
  deprecation?: DeprecationNotice;
}

declare module 'fastify' {
  interface FastifyContextConfig extends RouteConfig {}
}
