/** One response of the service, in milliseconds of `performance.now`. */
export interface Seen {
  readonly startedAt: number;
  readonly endedAt: number;
  readonly status: number;
}

/** What one event has cost those who were sending requests. */
export interface Outage {
  readonly event: string;
  /** From the begin of the first request that was refused to the end of the last one. */
  readonly refusedSeconds: number;
  /** How long after a server took writes a request that was refused was begun; 0 when none was. */
  readonly lateSeconds: number;
  readonly responses: number;
  readonly refused: number;
  /** 5xx other than 503. */
  readonly failed: number;
  readonly lost: number;
  readonly doubled: number;
}

export function outageOf(
  event: string,
  seen: readonly Seen[],
  writableAt: number,
  effects: Pick<Outage, 'doubled' | 'lost'>,
): Outage {
  const refused = seen.filter(({ status }) => status === 503);
  const startedAt = Math.min(...refused.map((each) => each.startedAt));
  const endedAt = Math.max(...refused.map((each) => each.endedAt));
  const lastStartedAt = Math.max(...refused.map((each) => each.startedAt));
  return {
    event,
    refusedSeconds: refused.length === 0 ? 0 : (endedAt - startedAt) / 1_000,
    lateSeconds: Math.max(0, (lastStartedAt - writableAt) / 1_000),
    responses: seen.length,
    refused: refused.length,
    failed: seen.filter(({ status }) => status >= 500 && status !== 503).length,
    ...effects,
  };
}

const columns = [
  'event',
  'runs',
  'seconds of 503: p50',
  'max',
  '503 after a server took writes: max s',
  '503',
  'responses',
];

/** A row for each kind of event. */
export function printOutages(title: string, outages: readonly Outage[]): void {
  const head = [...columns, 'lost', 'doubled', '5xx other than 503'];
  const rows = [...Map.groupBy(outages, ({ event }) => event)].map(([event, runs]) => {
    const seconds = runs.map(({ refusedSeconds }) => refusedSeconds);
    const sum = (of: (outage: Outage) => number): number => runs.reduce((total, each) => total + of(each), 0);
    return [
      event,
      runs.length,
      rounded(median(seconds)),
      rounded(Math.max(...seconds)),
      rounded(Math.max(...runs.map(({ lateSeconds }) => lateSeconds))),
      sum(({ refused }) => refused),
      sum(({ responses }) => responses),
      sum(({ lost }) => lost),
      sum(({ doubled }) => doubled),
      sum(({ failed }) => failed),
    ];
  });
  printTable(title, head, rows);
}

export function printTable(
  title: string,
  head: readonly string[],
  rows: readonly (readonly (number | string)[])[],
): void {
  const lines = [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`);
  console.info([title, '', ...lines].join('\n'));
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2;
}

function rounded(seconds: number): number {
  return Math.round(seconds * 10) / 10;
}
