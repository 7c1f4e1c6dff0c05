import { UnusableRedisUrl } from '../platform/quotas/index.ts';
import { hasMisplacedAt, percentEncoding } from '../platform/shown-url.ts';
import { UnusableDatabaseUrl } from './database-url.ts';
import { durationWithin, integerWithin, maxDurationSeconds } from './setting-values.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads settings from environment variables, and collects what is wrong with them. An empty one counts as unset. */
export class SettingReader {
  readonly #environment: Environment;
  /** A sentence for each wrong setting: its name, its value, and what would be right. */
  readonly problems: string[] = [];
  /** The settings that were asked for. */
  readonly names = new Set<string>();

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  text(name: string): string | undefined {
    this.names.add(name);
    return this.#environment[name] || undefined;
  }

  /** The value that `parse` makes of the text, or of the default; undefined beside a problem for what it refuses. */
  value<Value>(name: string, fallback: string, parse: (text: string) => Value | undefined, right: string): Value {
    const text = this.text(name) ?? fallback;
    const value = parse(text);
    if (value === undefined) {
      this.problems.push(`${name} is ${JSON.stringify(withoutPassword(text))}, but must be ${right}.`);
    }
    return value as Value;
  }

  integer(name: string, fallback: number, min: number, max: number): number {
    return this.value(name, String(fallback), integerWithin(min, max), `a whole number from ${min} to ${max}`);
  }

  /** In seconds. */
  duration(name: string, fallback: string): number {
    const right = 'a duration such as 90s, 15m, 24h or 7d, with its unit and at most 7d';
    return this.value(name, fallback, durationWithin(0, maxDurationSeconds), right);
  }

  oneOf<Text extends string>(name: string, fallback: Text, texts: readonly Text[]): Text {
    const right = texts.length > 3 ? `one of ${texts.join(', ')}` : texts.join(', ').replace(/, (?!.*, )/, ' or ');
    return this.value(name, fallback, (text) => texts.find((each) => each === text), right);
  }

  /** Whether it is the first of the two texts. */
  either(name: string, fallback: string, [yes, no]: readonly [string, string]): boolean {
    return this.oneOf(name, fallback, [yes, no]) === yes;
  }

  /** The URL as `parse` completes it, whose messages never repeat a password. */
  url(name: string, parse: (text: string) => string): string | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (hasMisplacedAt(text)) {
      this.problems.push(
        `${name} has an @ after its host, which a / # or ? in its password may have ended. ${percentEncoding}`,
      );
      return undefined;
    }
    try {
      return parse(text);
    } catch (error) {
      if (!(error instanceof UnusableDatabaseUrl || error instanceof UnusableRedisUrl)) throw error;
      const { message } = error;
      this.problems.push(/ must be the URL /.test(message) ? `${message} ${percentEncoding}` : message);
      return undefined;
    }
  }
}

/** Whatever setting a URL was given to. */
function withoutPassword(text: string): string {
  return text.replace(/(\/\/|^(?!.*\/\/)).*@/s, '$1…@');
}
