import { readFileSync } from 'node:fs';

/** From this length on a name may differ by two letters. */
const longName = 10;
/** Names that begin so are this service's alone. */
const ownPrefix = 'GRAPHQL_MAX_';

/** Warns of names that are nearly a setting. Other programs' names (HOSTNAME, PGHOST) are further away. */
export function warningsOfNames(names: readonly string[], settings: ReadonlySet<string>): string[] {
  const short = [...settings].filter(({ length }) => length < longName);
  const long = [...settings].filter(({ length }) => length >= longName);
  return names.flatMap((name) => {
    if (settings.has(name)) return [];
    const nearest =
      [...short, ...long].find((setting) => isWithin(1, name, setting)) ??
      long.find((setting) => isWithin(2, name, setting));
    if (nearest === undefined && !name.startsWith(ownPrefix)) return [];
    const meant = nearest === undefined ? 'the README lists them' : `is ${nearest} meant?`;
    return [`The variable ${name} is none of the settings, and is ignored: ${meant}`];
  });
}

/** Whether at most so many letters inserted, removed, replaced, or swapped with the next one make `b` of `a`. */
function isWithin(edits: number, a: string, b: string): boolean {
  if (a === b) return true;
  const [restOfA, restOfB] = [a.slice(1), b.slice(1)];
  if (a[0] === b[0]) return isWithin(edits, restOfA, restOfB);
  if (edits === 0) return false;
  const isSwap = a[0] === b[1] && a[1] === b[0];
  return (
    isWithin(edits - 1, restOfA, b) ||
    isWithin(edits - 1, a, restOfB) ||
    isWithin(edits - 1, restOfA, restOfB) ||
    (isSwap && isWithin(edits - 1, a.slice(2), b.slice(2)))
  );
}

/** Log, engine, Redis, listeners and what Node itself keeps open. */
const otherDescriptors = 64;

/** A sentence where the system lets the process open fewer files and sockets than it is set to have connections. */
export function warningsOfDescriptors(
  { maxConnections, databasePoolSize }: { readonly maxConnections: number; readonly databasePoolSize: number },
  limits = readLimits(),
): string[] {
  const limit = maxDescriptors(limits);
  const needed = maxConnections + databasePoolSize + otherDescriptors;
  if (limit >= needed) return [];
  return [
    `MAX_CONNECTIONS is ${maxConnections}, but the system lets this process open ${limit} files and sockets: ` +
      `raise that to ${needed} (ulimit -n, LimitNOFILE of systemd), or lower MAX_CONNECTIONS.`,
  ];
}

/** How many connections may wait in a primary: those that wait leave descriptors for the processes that it starts. */
export function maxWaitingConnections(most: number): number {
  return Math.min(most, Math.floor(maxDescriptors(readLimits()) / 2));
}

function maxDescriptors(limits: string): number {
  return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Infinity);
}

/** Of Linux; other systems aren't asked. */
function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}
