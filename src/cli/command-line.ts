import { parseArgs } from 'node:util';

import type { Config } from '../settings/config.ts';
import type { Environment } from '../settings/setting-reader.ts';
import { FailedDatabase } from '../settings/failed-database.ts';
import { openOrJoinDatabase } from '../database/start/open.ts';
import { DomainError } from '../domain/errors.ts';
import { inBatches, maxPageSize, type Page, type PageArguments } from '../domain/page.ts';
import { explainFailure } from '../settings/failed-start.ts';
import { plainText } from '../platform/shown-error.ts';
import { UsageError } from './option-values.ts';
import { databaseOptions, readSettings } from './run.ts';

/** The output of a command: for people or, with `--json`, for programs. */
export interface Output {
  /** For standard output. */
  readonly text: string;
  /** For standard error, so that standard output has only the data. */
  readonly note?: string;
  readonly json: unknown;
  /** Whether the exit code is 1 all the same. */
  readonly isFailure?: boolean;
}

interface CommandHelp {
  readonly summary: string;
  /** The arguments after the command's name, and what is parsed: an id that is needed comes first, then options. */
  readonly usage: string;
}

/** `now` is the database's time when it has been opened: what lasts a while lasts from then. */
export type CommandWork<Service> = (service: Service, now: number) => Promise<Output>;

/** The parsed options of a command. */
type OptionValues = Readonly<Record<string, string | boolean | undefined>>;

export interface Command<Service, Values = OptionValues> extends CommandHelp {
  /** Reads the options; throws UsageError before the database is opened. */
  prepare(values: Values, id: string): CommandWork<Service>;
}

/** A command that needs no settings and no database. */
export interface StandaloneCommand extends CommandHelp {
  run(): Output;
}

type OpenedDatabase = Awaited<ReturnType<typeof openOrJoinDatabase>>;

interface Served<Service> {
  readonly service: Service;
  readonly now: number;
  readonly close?: () => Promise<void>;
}

/** A command line such as `keys`, whose commands administer one thing. */
export interface CommandLine<Service> {
  readonly name: string;
  /** A clause for an id that is missing: `the id of a key`. */
  readonly idName: string;
  /** In the order of the help. */
  readonly commands: Readonly<Record<string, Command<Service> | StandaloneCommand>>;
  /** Options without a value. */
  readonly flags: ReadonlySet<string>;
  /** The options of the domain's fields where they have other names. */
  readonly optionOfField: Readonly<Record<string, string>>;
  /** Sentences before the list of commands, and after it. */
  readonly introduction: string;
  readonly explanation: string;
  /** The service on an open database, and the database's time. */
  serve(database: OpenedDatabase, config: Config): Served<Service>;
}

const succeeded = 0;
const failed = 1;
const misused = 2;

/**
 * Runs a command with these arguments, and returns the exit code: 0 when done, 1 when refused or impossible, 2 for a
 * wrong command line.
 */
export async function runCommandLine<Service>(
  line: CommandLine<Service>,
  args: readonly string[],
  environment?: Environment,
): Promise<number> {
  try {
    const request = parse(line, args);
    if (request === 'help') {
      console.log(helpOf(line));
      return succeeded;
    }
    const output = await request.run(environment);
    print(output, request.asJson);
    return output.isFailure === true ? failed : succeeded;
  } catch (error) {
    const isMisuse =
      error instanceof UsageError || (error instanceof DomainError && error.code === 'VALIDATION_FAILED');
    const explanation = plainText(explain(line, error));
    console.error(`${line.name}: ${explanation}${isMisuse ? `\n${line.name} --help shows how it is used.` : ''}`);
    return isMisuse ? misused : failed;
  }
}

/** All rows of a list, page by page. */
export async function allOf<Row>(listPage: (page: PageArguments) => Promise<Page<Row>>): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const batch of inBatches(listPage, undefined, maxPageSize)) rows.push(...batch);
  return rows;
}

export function onlyOf<Item>([item]: readonly Item[]): Item {
  if (item === undefined) throw new Error('One page was expected.');
  return item;
}

interface Request {
  run(environment?: Environment): Promise<Output>;
  readonly asJson: boolean;
}

function parse<Service>(line: CommandLine<Service>, [name, ...args]: readonly string[]): Request | 'help' {
  const { commands, flags, idName } = line;
  if (name === undefined) throw new UsageError(`a command is needed: ${Object.keys(commands).join(', ')}.`);
  if (name === '--help' || name === '-h' || name === 'help') return 'help';
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) {
    throw new UsageError(`there is no command ${JSON.stringify(name)}: use ${Object.keys(commands).join(', ')}.`);
  }
  const { values, positionals } = parseOptions(command, flags, args);
  const { json, help, ...own } = values;
  if (help === true) return 'help';
  const [id = '', ...others] = positionals;
  const needsId = command.usage.startsWith('ID');
  const takesId = needsId || command.usage.startsWith('[ID');
  if (needsId && id === '') throw new UsageError(`${name} needs ${idName}; \`list\` shows them.`);
  const surplus = takesId ? others : positionals;
  if (surplus.length > 0) throw new UsageError(`${name} takes no ${JSON.stringify(surplus[0])}.`);
  const asJson = json === true;
  if ('run' in command) return { run: async () => command.run(), asJson };
  const work = command.prepare(own, id);
  return { run: (environment) => execute(line, work, environment), asJson };
}

function parseOptions({ usage }: CommandHelp, flags: ReadonlySet<string>, args: string[]) {
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

async function execute<Service>(
  line: CommandLine<Service>,
  work: CommandWork<Service>,
  environment?: Environment,
): Promise<Output> {
  const config = readSettings(environment);
  const database = await openOrJoinDatabase(databaseOptions(config));
  try {
    const { service, now, close } = line.serve(database, config);
    try {
      return await work(service, now);
    } finally {
      await close?.();
    }
  } finally {
    await database.close();
  }
}

function print({ text, note, json }: Output, asJson: boolean): void {
  if (note !== undefined && !asJson) console.error(note);
  console.log(asJson ? JSON.stringify(json, undefined, 2) : text);
}

function explain<Service>(line: CommandLine<Service>, error: unknown): string {
  if (error instanceof FailedDatabase) return explainFailure(error);
  if (!(error instanceof Error)) return String(error);
  if (error instanceof DomainError && error.code === 'VALIDATION_FAILED') {
    const { optionOfField } = line;
    return error.violations
      .map(({ field, message }) => `${optionOfField[field] ?? `--${field}`} ${message}`)
      .join('\n');
  }
  // The cause is more useful to an operator than the message for clients.
  if (error instanceof DomainError && error.cause !== undefined) return explain(line, error.cause);
  if (error instanceof AggregateError && error.errors.length > 0) return explain(line, error.errors[0]);
  return error.message;
}

function helpOf<Service>({ name, introduction, commands, explanation }: CommandLine<Service>): string {
  const summaries = Object.entries(commands).map(
    ([command, { summary, usage }]) => `  ${name} ${command} ${usage}`.trimEnd() + `\n      ${summary}.`,
  );
  return `${introduction}

${summaries.join('\n')}

${explanation}
  --json            for programs
  --help            shows this

It acts on the database of DATABASE_URL, or the embedded one in DATA_DIR, whether the service runs or not, and says
which on standard error. It makes none: give it the settings of the service.
The exit code is 0, or 1 when it can't be done, or 2 for a wrong command line.`;
}
