/**
 * For suites that are about neither overload nor the start of requests: a machine that is busy with other suites delays
 * the event loop at any time.
 */
export const anyDelay = { maxDelayMillis: Infinity, tickMillis: Infinity };
