import type { LoadResult } from './load-process.ts';
import type { Workload } from './workloads.ts';

export interface Measurement extends LoadResult {
  /** Processor time of the server per request, in microseconds. */
  readonly cpuMicros: number;
  /** Of PostgreSQL; not a number where its processes can't be seen. */
  readonly databaseMicros: number;
}

/** `against` is another build of the service. */
export const targets = ['service', 'against', 'limit'] as const;
export type Target = (typeof targets)[number];

export interface Measured {
  readonly workload: Workload;
  /** For each process of the target one for each round; none for a target that isn't there. */
  readonly closed: Readonly<Record<Target, Measurement[][]>>;
  /** Under the fixed arrival rate. */
  readonly atRate: Readonly<Record<Target, Measurement[]>>;
  /** Requests per second. */
  rate: number;
}

const columns = [
  '',
  'requests/s',
  'p50 ms',
  'p99 ms',
  'CPU µs',
  'PostgreSQL µs',
  '× the limit',
  'by process',
  'requests/s of the limit',
];
const rateColumns = ['at a fixed rate', 'requests/s', 'p50 ms', 'p99 ms', 'CPU µs', 'PostgreSQL µs'];

/**
 * The medians of all rounds with all processes. The ratio to the limit is the median of the rounds' own ratios, each
 * taken within seconds; `by process` is the least and the greatest median of one process. The fixed arrival rate is
 * measured with the last process only.
 */
export function printTable(results: readonly Measured[]): string {
  const lines: string[][] = [columns];
  const rateLines: string[][] = [rateColumns];
  for (const { workload, closed, atRate } of results) {
    for (const target of targets.filter((each) => closed[each].length > 0)) {
      const name = target === 'service' ? workload.name : target;
      lines.push([name, ...figures(closed[target].flat()), ...shares(target, closed)]);
      rateLines.push([name, ...figures(atRate[target])]);
    }
  }
  const titles = results.map(({ workload: { name, title } }) => `${name.padEnd(5)} ${title}`).join('\n');
  return [titles, layOut(lines), layOut(rateLines)].join('\n\n');
}

/** Of the limit's processor time and throughput. */
function shares(target: Target, { [target]: processes, limit }: Measured['closed']): string[] {
  if (target === 'limit') return ['', '', ''];
  const ofLimit = (value: (round: Measurement) => number): number[][] =>
    processes.map((rounds, process) => rounds.map((each, round) => value(each) / value(limit[process]![round]!)));
  const ratios = ofLimit(({ cpuMicros }) => cpuMicros);
  const byProcess = ratios.map(median);
  return [
    median(ratios.flat()).toFixed(2),
    `${Math.min(...byProcess).toFixed(2)}–${Math.max(...byProcess).toFixed(2)}`,
    `${(median(ofLimit(throughput).flat()) * 100).toFixed(0)} %`,
  ];
}

export function layOut(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) =>
      row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))).join('   '),
    )
    .join('\n');
}

function figures(rounds: readonly Measurement[]): string[] {
  const of = (value: (round: Measurement) => number): number => median(rounds.map(value));
  return [
    of(throughput).toFixed(0),
    of(({ p50 }) => p50).toFixed(2),
    of(({ p99 }) => p99).toFixed(2),
    of(({ cpuMicros }) => cpuMicros).toFixed(0),
    seen(of(({ databaseMicros }) => databaseMicros)),
  ];
}

function seen(micros: number): string {
  return Number.isNaN(micros) ? '' : micros.toFixed(0);
}

export function throughput({ requests, seconds }: LoadResult): number {
  return requests / seconds;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
