import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';

/** The context of a request, available to everything that it calls. */
export class RequestContext {
  /** Whose account it is in: the id of its key. */
  readonly clientId: string;
  /** Why this request needn't send further statements: it has lost the database, or its client has disconnected. */
  failure: Error | undefined;
  #hasWritten = false;
  #controller: AbortController | undefined;

  constructor(clientId: string) {
    this.clientId = clientId;
  }

  /** Aborted by `abort`, for what waits. Made on first use: most requests never wait. */
  get signal(): AbortSignal {
    return (this.#controller ??= new AbortController()).signal;
  }

  /** From now on it is carried out whole, whether or not its client is still there. */
  recordWrite(): void {
    this.#hasWritten = true;
  }

  /** The client has disconnected: what the request waits for is not begun, unless it has begun to write. */
  abort(reason: Error): void {
    if (this.#hasWritten) return;
    this.failure ??= reason;
    this.#controller?.abort(reason);
  }
}

const storage = new AsyncLocalStorage<RequestContext>();

/** Runs the work of one request. */
export function runIn<Result>(context: RequestContext, work: () => Result): Result {
  return storage.run(context, work);
}

/** Runs work for a client. Neither the failure of the current request nor that its client has disconnected ends it. */
export function runAs<Result>(clientId: string, work: () => Result): Result {
  return storage.run(new RequestContext(clientId), work);
}

/** Runs the service's own work, which several requests may share. */
export function runAsService<Result>(work: () => Result): Result {
  return storage.exit(work);
}

/** The request under way; undefined for the service's own work. */
export function currentRequest(): RequestContext | undefined {
  return storage.getStore();
}

/** Calls a function, and returns what it returns. */
export type Runner = <Result>(run: () => Result) => Result;

/**
 * Calls functions later in the asynchronous context of now (`AsyncLocalStorage`). `AsyncResource.bind` and
 * `AsyncLocalStorage.snapshot` do the same in 2.5 µs instead of 0.1.
 */
export function contextOfNow(): Runner {
  const context = new AsyncResource('petstore');
  return (run) => context.runInAsyncScope(run);
}
