import { hostname } from 'node:os';

import type { FastifyBaseLogger, FastifyRequest } from 'fastify';
import { destination, pino, type LoggerOptions } from 'pino';

import { pathOf } from './route-table.ts';

export interface LogStream {
  write(line: string): void;
  /** Calls the listener for every line that is dropped because the output is not read. */
  onDrop?(listener: () => void): void;
}

/** Writes a line with these fields; undefined ones are left out. */
export type WriteLine = (level: 'info' | 'debug', fields: object) => void;

const secretHeaders = ['authorization', 'x-api-key', 'cookie', 'set-cookie'];

/** No line has a header or a query; should one be logged with an object, secret headers are redacted. */
function loggerOptions(level: string): LoggerOptions {
  const places = ['headers', 'req.headers', 'request.headers', 'err.headers', 'err.request.headers'];
  return {
    level,
    redact: places.flatMap((place) => secretHeaders.map((name) => `${place}["${name}"]`)),
    serializers: { req: ({ method, url }: FastifyRequest) => ({ method, path: pathOf(url) }) },
  };
}

/**
 * The log, and a faster way to write the lines that every request has: pino takes twice as long for one, which is 3 % of a request. They are
 * not redacted.
 */
export function createLogger(
  level: string,
  stream: LogStream = destination(1),
): { readonly log: FastifyBaseLogger; readonly writeLine: WriteLine } {
  const base = { pid: process.pid, hostname: hostname() };
  const log = pino({ ...loggerOptions(level), base }, stream);
  const bindings = JSON.stringify(base).slice(1, -1);
  const writeLine: WriteLine = (name, fields) => {
    if (!log.isLevelEnabled(name)) return;
    const number = log.levels.values[name];
    stream.write(`{"level":${number},"time":${Date.now()},${bindings},${JSON.stringify(fields).slice(1)}\n`);
  };
  return { log, writeLine };
}

/** The log of a request, which few requests use: pino makes a child for it at its first line. */
export class RequestLogger implements FastifyBaseLogger {
  readonly #log: FastifyBaseLogger;
  readonly #bindings: object;
  #own: FastifyBaseLogger | undefined;

  constructor(log: FastifyBaseLogger, bindings: object) {
    this.#log = log;
    this.#bindings = bindings;
  }

  get level(): string {
    return this.#log.level;
  }

  get #lines(): FastifyBaseLogger {
    this.#own ??= this.#log.child(this.#bindings);
    return this.#own;
  }

  child(...args: Parameters<FastifyBaseLogger['child']>): FastifyBaseLogger {
    return this.#lines.child(...args);
  }

  fatal(...args: Arguments): void {
    this.#lines.fatal(...args);
  }

  error(...args: Arguments): void {
    this.#lines.error(...args);
  }

  warn(...args: Arguments): void {
    this.#lines.warn(...args);
  }

  info(...args: Arguments): void {
    this.#lines.info(...args);
  }

  debug(...args: Arguments): void {
    this.#lines.debug(...args);
  }

  trace(...args: Arguments): void {
    this.#lines.trace(...args);
  }

  silent(...args: Arguments): void {
    this.#lines.silent(...args);
  }
}

type Arguments = [fields: unknown, message?: string, ...values: unknown[]];
