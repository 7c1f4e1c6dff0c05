import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/**
 * The time spent in each package's own code, as shares of the time that anything ran, from the profiles that Node left
 * in the directory.
 */
export function summarizeProfiles(directory: string): string {
  const microsByPackage = new Map<string, number>();
  for (const file of readdirSync(directory).filter((name) => name.endsWith('.cpuprofile'))) {
    addProfile(JSON.parse(readFileSync(join(directory, file), 'utf8')) as CpuProfile, microsByPackage);
  }
  const total = [...microsByPackage.values()].reduce((sum, micros) => sum + micros, 0);
  return [...microsByPackage]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, 25)
    .map(([name, micros]) => `${((micros / total) * 100).toFixed(1).padStart(6)} %  ${name}`)
    .join('\n');
}

function addProfile({ nodes, samples, timeDeltas }: CpuProfile, microsByPackage: Map<string, number>): void {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, packageOf(callFrame.url, callFrame.functionName)]));
  for (const [index, sample] of samples.entries()) {
    const name = names.get(sample);
    if (name === undefined) continue;
    microsByPackage.set(name, (microsByPackage.get(name) ?? 0) + (timeDeltas[index] ?? 0));
  }
}

/** Undefined for the time in which nothing ran. */
function packageOf(url: string, functionName: string): string | undefined {
  if (functionName === '(idle)') return undefined;
  if (functionName.startsWith('(')) return functionName;
  const path = url.split('/node_modules/').at(-1)!;
  if (path !== url) return /^(?:@[^/]+\/)?[^/]+/.exec(path)![0];
  if (url.startsWith('node:')) return url.split('/').slice(0, 2).join('/');
  const folder = /\/dist\/src\/(\w+)/.exec(url)?.[1];
  return folder === undefined ? 'compiled at run time, and V8' : `src/${folder}`;
}
