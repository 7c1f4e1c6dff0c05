import type { Services } from '../domain/services.ts';
import type { Precondition } from '../domain/version.ts';
import type { RequestMemory } from '../platform/callers/index.ts';
import type { OperationId } from './openapi/document.ts';
import type { Operations } from './openapi/types.ts';

/** A request of an operation. Its query and body have the structure that the document requires. */
export interface Call<Id extends OperationId> {
  /** As they are in the URL, unchecked: a text that isn't an id is NOT_FOUND. */
  readonly path: Operations[Id]['path'];
  readonly query: Operations[Id]['query'];
  readonly body: Operations[Id]['body'];
  /** The operation's path with the prefix; path parameters are still in braces. */
  readonly url: string;
  /** The text before every path: empty, or `/v1`. */
  readonly prefix: string;
  /** HEAD: the body isn't sent, so a costly one needn't be made. */
  readonly isHead: boolean;
  /** The state that a change expects the row to be in. */
  readonly precondition: Precondition;
  readonly memory: Pick<RequestMemory, 'reserve' | 'hold' | 'keep'>;
  /** Waits until the event loop has time for more work of this client. */
  readonly enterTick: () => Promise<void>;
}

/** The response of a handler. Conditional requests and HEAD are applied when it is sent. */
export interface RestResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Chunks are read one after another, as fast as the client takes them. */
  readonly body: string | AsyncIterable<string> | undefined;
}

/** Handles an operation: one call of a service, and no rules. */
export type Handler<Id extends OperationId> = (
  call: Call<Id>,
  services: Services,
) => RestResponse | Promise<RestResponse>;

export type Handlers = { readonly [Id in OperationId]: Handler<Id> };
