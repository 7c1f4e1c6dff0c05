/** For suites that aren't about overload: a machine that is busy with other suites delays the event loop at any time. */
export const anyDelay = { maxDelayMillis: Infinity, turnMillis: Infinity };
