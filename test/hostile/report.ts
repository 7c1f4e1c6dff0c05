import { expect } from '@jest/globals';

import type { Damage, Target } from './target.ts';

/**
 * Processor time. The contract's figure is that of a quiet machine; beside other work, the attacker's own included, it
 * may be twice as long.
 */
const factor = Math.min(Number(process.env['HOSTILE_FACTOR'] || 2), 2);
const maxTickMillis = 250 * factor;
/** Of a page, whose database has it for a while: meanwhile the service works for others. */
const maxPageMillis = 2 * maxTickMillis;
/** From another address, and on a new connection, which waits to be accepted as long as any. */
const maxProbeMillis = 1_000 * factor;
/**
 * An attack alone stays below 400 MB, of which the process has some 160 at rest; all of them, one after another or
 * together, below 700.
 */
const maxGrowthMegabytes = 240;
const maxMegabytes = 700;
/**
 * Prepared operations are kept up to some 40 MB, texts of persisted queries up to 8; the rest is garbage that V8 has no
 * reason to collect yet.
 */
const maxLeftMegabytes = 200;

const rows: (readonly (string | number)[])[] = [];

/** How often each attack is repeated, and for how long each time; the table has the medians. */
const rounds = Number(process.env['HOSTILE_ROUNDS'] || 1);
const roundSeconds = Number(process.env['HOSTILE_ROUND_SECONDS'] || 0);

/** Of one attack with all its rounds. */
export const timeoutMillis = 300_000 + 2_000 * rounds * roundSeconds;

/**
 * Does the attack as often and as long as the table asks for. Returns what it got the last time, and what it has done
 * each time.
 */
export async function endure(target: Target, attack: () => Promise<string>): Promise<[string, Damage[]]> {
  const damages: Damage[] = [];
  let responses = '';
  for (let round = 0; round < rounds; round += 1) {
    const until = performance.now() + roundSeconds * 1_000;
    const damage = await target.suffer(async () => {
      do responses = await attack();
      while (performance.now() < until);
    });
    damages.push(damage);
  }
  return [responses, damages];
}

const median = (values: readonly number[]): number =>
  Math.round(values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!);

const listed = (statuses: Readonly<Record<string, number>>): string =>
  Object.entries(statuses)
    .map(([status, count]) => `${status} ×${count}`)
    .join(', ');

/** Adds a row to the table, and checks what holds for every attack. */
export function expectHarmless(
  name: string,
  responses: string,
  damages: readonly Damage[],
  { isAlone = true, isEmbedded = false }: { readonly isAlone?: boolean; readonly isEmbedded?: boolean } = {},
): void {
  const figure = (of: (damage: Damage) => number): number => median(damages.map(of));
  const statuses: Record<string, number> = {};
  for (const { neighbour } of damages)
    for (const [status, count] of Object.entries(neighbour.statuses))
      statuses[status] = (statuses[status] ?? 0) + count;
  rows.push([
    name,
    responses,
    figure(({ neighbour }) => neighbour.p50),
    figure(({ neighbour }) => neighbour.p99),
    figure(({ neighbour }) => neighbour.health),
    listed(statuses),
    figure(({ waitMillis }) => waitMillis),
    figure(({ pageMillis }) => pageMillis),
    figure(({ neighbour }) => neighbour.probeMillis),
    figure(({ tickMillis }) => tickMillis),
    figure(({ cpuMillis }) => cpuMillis),
    median(damages.map(({ contention }) => 100 * contention)) / 100,
    figure(({ peakMegabytes }) => peakMegabytes),
    figure(({ leftMegabytes }) => leftMegabytes),
  ]);
  expect(responses).not.toMatch(/\b500\b|INTERNAL/);
  // An overloaded service may ask it to try again.
  expect(Object.keys(statuses).filter((status) => status !== '503')).toEqual(['200']);
  for (const { tickMillis, startMegabytes, peakMegabytes, leftMegabytes, complaints } of damages) {
    // A refusal because of a bound is a warning at most; nothing is unforeseen.
    expect(complaints.filter((line) => /"level":(?:50|60)/.test(line))).toEqual([]);
    expect(tickMillis).toBeLessThan(maxTickMillis);
    // The embedded database is a part of the process.
    if (!isEmbedded) expect(peakMegabytes).toBeLessThan(maxMegabytes);
    if (isAlone) expect(peakMegabytes - startMegabytes).toBeLessThan(maxGrowthMegabytes);
    expect(leftMegabytes).toBeLessThan(maxLeftMegabytes);
  }
}

/**
 * While others do their worst, a neighbour's pages and probes go on: in processor time of the service, which is what it
 * makes them wait on a quiet machine. Where programs wait for cores, so do Redis and the database, while the service
 * works on for others.
 */
export function expectServed({ waitMillis, pageMillis, contention, neighbour }: Damage): void {
  expect(waitMillis / contention).toBeLessThan(maxTickMillis);
  expect(pageMillis / contention).toBeLessThan(maxPageMillis);
  expect(neighbour.probeMillis).toBeLessThan(maxProbeMillis);
}

/** No result holds the event loop for longer than this, whatever its shape and size. */
export function expectShortHolds({ tickMillis }: Damage): void {
  expect(tickMillis).toBeLessThan(50 * factor);
}

export function printTable(): void {
  const head = [
    'attack',
    'responses',
    'p50 ms',
    'p99 ms',
    '/healthz ms',
    'neighbour',
    'wait CPU ms',
    'page CPU ms',
    'probe CPU ms',
    'tick CPU ms',
    'CPU ms',
    'contention',
    'MB',
    'left MB',
  ];
  console.info([head, ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n'));
}
