import { parseDuration } from '../settings/setting-values.ts';

/** A command line that can't be understood: its message says what would be right. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export function required<Option extends string>(
  option: Option,
  values: Readonly<Partial<Record<Option, string>>>,
): string {
  const value = values[option];
  if (value === undefined || value === '') throw new UsageError(`--${option} is needed.`);
  return value;
}

export function choiceOf<Choice extends string>(option: string, text: string, choices: readonly Choice[]): Choice {
  const choice = choices.find((each) => each === text.toLowerCase());
  if (choice !== undefined) return choice;
  throw new UsageError(`--${option} is ${JSON.stringify(text)}, but must be one of ${choices.join(', ')}.`);
}

/** Of a list with commas between. */
export function choicesOf<Choice extends string>(option: string, text: string, choices: readonly Choice[]): Choice[] {
  return text.split(',').map((each) => choiceOf(option, each.trim(), choices));
}

export function numberOf(option: string, text: string): number {
  if (/^\d{1,10}$/.test(text)) return Number(text);
  throw new UsageError(`--${option} is ${JSON.stringify(text)}, but must be a whole number.`);
}

/** In seconds. */
export function durationOf(option: string, text: string, minSeconds = 1): number {
  const seconds = parseDuration(text);
  if (seconds !== undefined && seconds >= minSeconds) return seconds;
  throw new UsageError(`--${option} is ${JSON.stringify(text)}, but must be a duration such as 90s, 15m, 24h or 90d.`);
}
