/** What ends a process of ours. */
export const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** The role of a process that another one of ours has started. */
export type ChildRole = 'worker' | 'deliverer';

const [, , role, count] = process.argv;
/** As the first argument says; a process that a person starts has none. */
export const childRole = role as ChildRole | undefined;
/** How many there are of a role. */
export const childCount = Number(count);

/** Nothing to drain until the service is open. */
export function exitBeforeStart(): void {
  process.exit(0);
}

// Imported before everything else that takes time to load: a signal at that time would end the process by its default,
// and process 1 of a container would ignore it. A terminal, or systemd, sends a signal to all processes, but a child is
// ended by its parent.
for (const signal of signals) process.on(signal, childRole === undefined ? exitBeforeStart : () => undefined);
