import { Callers } from '../../src/platform/callers/caller.ts';

export const callers = new Callers();

/** For what a test does itself: work of the service's own, which nothing ends. */
export const testCaller = callers.service('test');
