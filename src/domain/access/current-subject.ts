import { AsyncLocalStorage } from 'node:async_hooks';

/** The context of a request, available to everything that it calls. */
interface RequestContext {
  readonly subjectId: string;
  /** The error by which this request lost the database, if it did. */
  failure: Error | undefined;
}

const storage = new AsyncLocalStorage<RequestContext>();

/** Runs the work of one request as its subject: a key or an address. */
export function runAs<Result>(subjectId: string, work: () => Result): Result {
  return storage.run({ subjectId, failure: undefined }, work);
}

/** The current subject; undefined for the service's own work. */
export function currentSubject(): string | undefined {
  return storage.getStore()?.subjectId;
}

/** The request under way; undefined outside of one. */
export function currentRequest(): RequestContext | undefined {
  return storage.getStore();
}
