import { AsyncLocalStorage } from 'node:async_hooks';

/** What is known of a request wherever its work leads. */
interface RequestContext {
  readonly subjectId: string;
  /** Why the database couldn't be reached in this request, once it couldn't. */
  failure: Error | undefined;
}

const storage = new AsyncLocalStorage<RequestContext>();

/** Runs the work of one request as the subject whose key or address it came with. */
export function runAs<Result>(subjectId: string, work: () => Result): Result {
  return storage.run({ subjectId, failure: undefined }, work);
}

/** Whose work this is; undefined for the service's own. */
export function currentSubject(): string | undefined {
  return storage.getStore()?.subjectId;
}

/** The request under way; undefined outside of one. */
export function currentRequest(): RequestContext | undefined {
  return storage.getStore();
}
