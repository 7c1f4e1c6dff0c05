import { parseArgs, type ParseArgsConfig } from 'node:util';

import { parseDuration } from '../settings/setting-values.ts';

export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** An option: as the help shows it, and what its text means. */
export interface Option<Value = unknown> {
  /** Stands for its value in the help; undefined for one that has none. */
  readonly value?: string;
  /** In lines for the help. */
  readonly help: string;
  /** The field of the domain that it sets, where that has another name. */
  readonly field?: string;
  /** Of that field, where it isn't that of the option. */
  readonly unit?: string;
  readonly isNeeded?: boolean;
  /** Throws UsageError, which names the option. */
  parse(name: string, text: string): Value;
}

export type Options = Readonly<Record<string, Option>>;

/** The values of a command's options; undefined where one is left out. */
export type ValuesOf<Of extends Options> = {
  readonly [Name in keyof Of]:
    ReturnType<Of[Name]['parse']> | (Of[Name] extends { readonly isNeeded: true } ? never : undefined);
};

/** As Node's, but an option may be there once. Throws UsageError, which names it. */
export function parseOptions<const Config extends ParseArgsConfig>(config: Config) {
  let parsed;
  try {
    parsed = parseArgs({ ...config, tokens: true });
  } catch (error) {
    // What follows the first sentence of Node's is about arguments that begin with a dash.
    throw new UsageError(`${(error as Error).message.split('. ')[0]}.`);
  }
  const names = (parsed.tokens ?? []).flatMap((token) => (token.kind === 'option' ? token.name : []));
  const repeated = names.find((name, index) => names.indexOf(name) < index);
  if (repeated !== undefined) throw new UsageError(`--${repeated} is there several times: leave one.`);
  return parsed;
}

type Shown = Omit<Option, 'parse' | 'value'>;

export function needed<Value>(option: Option<Value>): Option<Value> & { readonly isNeeded: true } {
  return { ...option, isNeeded: true };
}

export function flag(help: string): Option<true> {
  return { help, parse: () => true };
}

export function text(value: string, help: string): Option<string> {
  return { value, help, parse: (_name, given) => given };
}

export function choice<Choice extends string>(value: string, choices: readonly Choice[], shown: Shown): Option<Choice> {
  return { ...shown, value, parse: (name, given) => choiceOf(name, given, choices) };
}

/** A list with commas between. */
export function list<Choice extends string>(value: string, choices: readonly Choice[], shown: Shown): Option<Choice[]> {
  return {
    ...shown,
    value,
    parse: (name, given) => given.split(',').map((each) => choiceOf(name, each.trim(), choices)),
  };
}

export function wholeNumber(shown: Shown): Option<number> {
  return {
    ...shown,
    value: 'N',
    parse: (name, given) => {
      if (/^\d{1,10}$/.test(given)) return Number(given);
      throw new UsageError(`--${name} is ${JSON.stringify(given)}, but must be a whole number.`);
    },
  };
}

/** In seconds. */
export function duration(example: string, minSeconds: number, shown: Shown): Option<number> {
  return {
    ...shown,
    value: example,
    parse: (name, given) => {
      const seconds = parseDuration(given);
      if (seconds !== undefined && seconds >= minSeconds) return seconds;
      throw new UsageError(
        `--${name} is ${JSON.stringify(given)}, but must be a duration such as 90s, 15m, 24h or 90d.`,
      );
    },
  };
}

/** The same option with a word besides, which means null. */
export function orNull<Value>(word: string, option: Option<Value>): Option<Value | null> {
  return { ...option, parse: (name, given) => (given === word ? null : option.parse(name, given)) };
}

function choiceOf<Choice extends string>(name: string, given: string, choices: readonly Choice[]): Choice {
  const found = choices.find((each) => each === given.toLowerCase());
  if (found !== undefined) return found;
  throw new UsageError(`--${name} is ${JSON.stringify(given)}, but must be one of ${choices.join(', ')}.`);
}
