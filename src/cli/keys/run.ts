import { parseArgs } from 'node:util';

import type { Environment } from '../../config.ts';
import { Callers } from '../../platform/callers/index.ts';
import { FailedDatabase } from '../../database/start/failed-database.ts';
import { explainFailure } from '../../failed-start.ts';
import { openOrJoinDatabase } from '../../database/start/open.ts';
import { AccessService } from '../../domain/access/access.service.ts';
import { DomainError } from '../../domain/errors.ts';
import { plainText } from '../../platform/shown-error.ts';
import { databaseOptions } from '../run.ts';
import { commands, flags, UsageError, type Command, type CommandWork } from './commands.ts';
import type { Output } from './output.ts';

const succeeded = 0;
const failed = 1;
const misused = 2;

/**
 * Runs `keys` with these arguments, and returns the exit code: 0 when done, 1 when refused or impossible, 2 for a wrong
 * command line.
 */
export async function runKeys(args: readonly string[], environment?: Environment): Promise<number> {
  try {
    const request = parse(args);
    if (request === 'help') {
      console.log(help);
      return succeeded;
    }
    print(await execute(request, environment), request.asJson);
    return succeeded;
  } catch (error) {
    const isMisuse =
      error instanceof UsageError || (error instanceof DomainError && error.code === 'VALIDATION_FAILED');
    console.error(`keys: ${plainText(explain(error))}${isMisuse ? '\nkeys --help shows how it is used.' : ''}`);
    return isMisuse ? misused : failed;
  }
}

interface KeyCommand {
  readonly work: CommandWork;
  readonly asJson: boolean;
}

function parse([name, ...args]: readonly string[]): KeyCommand | 'help' {
  if (name === undefined) throw new UsageError(`a command is needed: ${Object.keys(commands).join(', ')}.`);
  if (name === '--help' || name === '-h' || name === 'help') return 'help';
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) {
    throw new UsageError(`there is no command ${JSON.stringify(name)}: use ${Object.keys(commands).join(', ')}.`);
  }
  const { values, positionals } = parseOptions(command, args);
  const { json, help: asksForHelp, ...own } = values;
  if (asksForHelp === true) return 'help';
  const [id = '', ...others] = positionals;
  const needsId = command.usage.startsWith('ID');
  if (needsId && id === '') throw new UsageError(`${name} needs the id of a key; \`list\` shows them.`);
  const surplus = needsId ? others : positionals;
  if (surplus.length > 0) throw new UsageError(`${name} takes no ${JSON.stringify(surplus[0])}.`);
  return { work: command.prepare(own, id), asJson: json === true };
}

function parseOptions({ usage }: Command, args: string[]) {
  const own = Object.fromEntries(
    Array.from(usage.matchAll(/--([a-z-]+)/g), ([, option = '']) => [
      option,
      { type: flags.has(option) ? ('boolean' as const) : ('string' as const) },
    ]),
  );
  try {
    return parseArgs({
      args,
      options: { ...own, json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
      strict: true,
    });
  } catch (error) {
    // Node's own words name the option; what follows the first sentence is about arguments that begin with a dash.
    throw new UsageError(`${(error as Error).message.split('. ')[0]}.`);
  }
}

async function execute({ work }: KeyCommand, environment?: Environment): Promise<Output> {
  const database = await openOrJoinDatabase(databaseOptions(environment));
  try {
    const stores = database.stores.for(new Callers().service('keys'));
    return await work(new AccessService(stores, {}, 'cli'), stores.clock.now());
  } finally {
    await database.close();
  }
}

function print({ text, note, json }: Output, asJson: boolean): void {
  if (note !== undefined && !asJson) console.error(note);
  console.log(asJson ? JSON.stringify(json, undefined, 2) : text);
}

/** Maps the field names of the domain to options. */
const optionOf: Readonly<Record<string, string>> = {
  requestsPerMinute: '--per-minute',
  requestsPerDay: '--per-day',
  expiresAt: '--expires-in',
  seconds: '--for (in seconds)',
  overlapSeconds: '--overlap (in seconds)',
};

function explain(error: unknown): string {
  if (error instanceof FailedDatabase) return explainFailure(error);
  if (!(error instanceof Error)) return String(error);
  if (error instanceof DomainError && error.code === 'VALIDATION_FAILED') {
    return error.violations.map(({ field, message }) => `${optionOf[field] ?? `--${field}`} ${message}`).join('\n');
  }
  // The cause is more useful to an operator than the message for clients.
  if (error instanceof DomainError && error.cause !== undefined) return explain(error.cause);
  if (error instanceof AggregateError && error.errors.length > 0) return explain(error.errors[0]);
  return error.message;
}

const help = `Manages API keys. What it changes holds in every running process within a second.

${Object.entries(commands)
  .map(([name, { summary, usage }]) => `  keys ${name} ${usage}`.trimEnd() + `\n      ${summary}.`)
  .join('\n')}

  --name NAME       what the key is called, for you and for the log
  --plan PLAN       free (60 requests per minute, 1,000 per day), pro (300, 10,000), business (1,000, 100,000)
                    or enterprise, with --per-minute N and --per-day N of its own
  --scopes SCOPES   read, write, admin, with commas between; write includes read, admin all. Default: read,write
  --expires-in, --for, --overlap   a duration: 90s, 15m, 24h, 90d; --expires-in also never.
                    The overlap is 24h by default, and at most 30d
  --usage           with what is spent of the minute and of the day, and the last use
  --sort ORDER      spent: first who has spent most of the day; by default id
  --near-limit N    only keys that have spent N per cent of their minute or of their day
  --json            for programs
  --help            shows this

It acts on the database of DATABASE_URL, or the embedded one in DATA_DIR, whether the service runs or not, and says
which on standard error. It makes none: give it the settings of the service.
The exit code is 0, or 1 when it can't be done, or 2 for a wrong command line.`;
