import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { createInterface } from 'node:readline';

/**
 * The server under load has a core of its own, as in a container with one; so has the database where there are four or
 * more. Undefined where there is only one.
 */
export const cores = coresOf(availableParallelism());

function coresOf(
  count: number,
): { readonly server: string; readonly database: string; readonly load: string } | undefined {
  if (count >= 4) return { server: '0', database: '1', load: '2,3' };
  return count >= 2 ? { server: '0', database: '1', load: '1' } : undefined;
}

/** Ticks of the processor time in `/proc`, per second; the same on every Linux that Node runs on. */
const ticksPerSecond = 100;

/** A server whose processor time and memory are read from outside. */
export class MeasuredProcess {
  readonly #child: ChildProcess;
  readonly address: string;

  /** Resolves when it has printed its address. */
  static async start(
    command: readonly string[],
    environment: Readonly<Record<string, string>>,
  ): Promise<MeasuredProcess> {
    const [file, ...rest] = command;
    const child = spawn(file!, rest, { env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
    // What is meant for people is shown only when the start fails.
    let errors = '';
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (errors = (errors + chunk).slice(-10_000)));
    const address = await Promise.race([
      // The service prints it for people on one, the limit on the other.
      ...[child.stdout, child.stderr].map(printedAddress),
      once(child, 'exit').then(() => {
        throw new Error(`${command.join(' ')} has ended without an address.\n${errors}`);
      }),
    ]);
    return new MeasuredProcess(child, address);
  }

  private constructor(child: ChildProcess, address: string) {
    this.#child = child;
    this.address = address;
  }

  /** User and system time of all threads so far. */
  get cpuMicros(): number {
    return cpuMicrosOf(this.#child.pid!);
  }

  get pid(): number {
    return this.#child.pid!;
  }

  get residentMegabytes(): number {
    const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${this.#child.pid}/status`, 'utf8'))?.[1];
    return Number(kilobytes) / 1024;
  }

  async stop(): Promise<void> {
    const closed = once(this.#child, 'close');
    this.#child.kill('SIGTERM');
    await closed;
  }
}

/**
 * User and system time of a process so far, and of its children that have ended; 0 for one that has ended. That of its
 * threads is to the nanosecond: of a server's many processes each does little, and clock ticks would be rounded off.
 */
export function cpuMicrosOf(pid: number): number {
  try {
    // After the name of the program, which may hold anything, in brackets.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
    const ofEnded = ((Number(fields[13]) + Number(fields[14])) * 1_000_000) / ticksPerSecond;
    return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + threadMicros(pid, thread), ofEnded);
  } catch {
    return 0;
  }
}

function threadMicros(pid: number, thread: string): number {
  const [nanoseconds] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ', 1);
  return Number(nanoseconds) / 1_000;
}

/** Of a server and the processes that it has started. */
export function cpuMicrosOfAll(pid: number): number {
  return cpuMicrosOf(pid) + childrenOf(pid).reduce((sum, child) => sum + cpuMicrosOf(child), 0);
}

/** For how long cores of the machine have done nothing so far, in microseconds. */
export function idleMicros(): number {
  const [, , , , idle, waiting] = /^cpu +(\d+) (\d+) (\d+) (\d+) (\d+)/.exec(readFileSync('/proc/stat', 'utf8')) ?? [];
  return ((Number(idle) + Number(waiting)) * 1_000_000) / ticksPerSecond;
}

/** The processes that a process has started. */
export function childrenOf(pid: number): readonly number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
}

/** The memory of a process, of what it shares with others its part. */
export function proportionalMegabytes(pid: number): number {
  return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]) / 1024;
}

/** The address on the stream, which is read to its end. */
async function printedAddress(stream: NodeJS.ReadableStream): Promise<string> {
  const printed = Promise.withResolvers<string>();
  createInterface({ input: stream }).on('line', (line) => {
    const address = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
    if (address !== undefined) printed.resolve(address);
  });
  return printed.promise;
}

/** Keeps a command on the cores, when there are any set aside for it. */
export function pinned(command: readonly string[], on: string | undefined): readonly string[] {
  return on === undefined ? command : ['taskset', '--cpu-list', on, ...command];
}

/** Keeps a process that runs already, and those that it will start, on the cores. */
export function pin(pid: number, on: string | undefined): void {
  if (on !== undefined)
    execFileSync('taskset', ['--all-tasks', '--pid', '--cpu-list', on, String(pid)], { stdio: 'ignore' });
}
