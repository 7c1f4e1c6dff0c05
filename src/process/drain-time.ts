import type { Config } from '../settings/config.ts';

/** How long a process may take from its signal on, before its last requests are aborted. */
export function drainMillis({ drainDelaySeconds, drainTimeoutSeconds }: Config): number {
  return (drainDelaySeconds + drainTimeoutSeconds) * 1000;
}
