import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { temporaryDirectory } from '../support/temporary-directory.ts';
import { deployFile } from './guide.ts';

const directory = temporaryDirectory();

/** The file of the guide. */
export const rules = join(directory, 'alerts.yml');

writeFileSync(rules, deployFile('alerts.yml', []));

/** Values by series, as `/metrics` writes them: `petstore_requests_total{operation="getPet",status="200"}`. */
export type Scrape = ReadonlyMap<string, number>;

/** Those that have fired once. */
export const fired = new Set<string>();

export const backupAge = 'petstore_backup_completed_timestamp_seconds';

/** What the node exporter says of the backup. Prometheus' own tests begin in 1970. */
export const backedUpAt = (hours: number) => [{ series: backupAge, values: `${hours * 3600}x90` }];

/** The alerts that fire after an hour and a half in which each minute is like the time between two scrapes of a process. */
export function firingAlerts(...processes: Process[]): string[] {
  return firingAlertsWith(backedUpAt(0), ...processes);
}

interface Process {
  readonly before?: Scrape;
  readonly after: Scrape;
  readonly up?: number;
}

/** The same with other series than those of the service. */
export function firingAlertsWith(others: object[], ...processes: Process[]): string[] {
  const series = processes.flatMap(({ before, after, up = 1 }, n) => {
    const labels = `job="petstore",instance="${n}"`;
    const values = [...after].map(([name, value]) => {
      const growth = /_(?:total|count|sum|bucket)(?:\{|$)/.test(name)
        ? value - (before === undefined ? value : (before.get(name) ?? 0))
        : 0;
      const labelled = name.endsWith('}') ? name.replace(/\}$/, `,${labels}}`) : `${name}{${labels}}`;
      return { series: labelled, values: `${value}+${growth}x90` };
    });
    return [{ series: `up{${labels}}`, values: `${up}x90` }].concat(values);
  });
  const query = { eval_time: '90m', expr: 'count by (alertname) (ALERTS{alertstate="firing"})', exp_samples: [] };
  const file = join(directory, 'test.yml');
  // YAML is a superset of JSON.
  const tests = [{ interval: '1m', input_series: [...series, ...others], promql_expr_test: [query] }];
  writeFileSync(file, JSON.stringify({ rule_files: [rules], tests }));
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' });
  const found = [...(/^ *got:(.*)$/m.exec(stdout + stderr)?.[1] ?? '').matchAll(/alertname="(\w+)"/g)];
  // No sample was expected.
  if ((status === 0) !== (found.length === 0)) throw new Error(stdout + stderr);
  const names = found.map(([, name = '']) => name);
  for (const name of names) fired.add(name);
  return names.toSorted();
}
