import type { Config } from '../settings/config.ts';
import type { Environment } from '../settings/setting-reader.ts';
import { FailedDatabase } from '../settings/failed-database.ts';
import { openOrJoinDatabase } from '../database/start/open.ts';
import { DomainError } from '../domain/errors.ts';
import { inBatches, maxPageSize, type Page, type PageArguments } from '../domain/page.ts';
import { explainFailure } from '../settings/failed-start.ts';
import { plainText } from '../platform/shown-error.ts';
import { type Option, type Options, parseOptions, UsageError, type ValuesOf } from './options.ts';
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
  /** Whether the id of a row comes first; it isn't taken if undefined. */
  readonly id?: 'needed' | 'possible';
  readonly options?: Options;
}

/** What a command is given: its options, and the id of a row. */
type Given<Of extends Options> = ValuesOf<Of> & { readonly id: string };

/** A command as it is written. */
interface CommandOf<Service, Of extends Options> extends CommandHelp {
  readonly options?: Of;
  /** At least one of the options has to be given. */
  readonly needsOption?: boolean;
  /** Throws UsageError before the database is opened. */
  check?(given: Given<Of>): void;
  /** `now` is the database's time: what lasts a while lasts from then. */
  run(service: Service, given: Given<Of>, now: number): Promise<Output>;
}

type CommandWork<Service> = (service: Service, now: number) => Promise<Output>;
type SentOptions = Readonly<Record<string, string | boolean | undefined>>;

export interface Command<Service> extends CommandHelp {
  /** Reads the options; throws UsageError before the database is opened. */
  prepare(sent: SentOptions, id: string): CommandWork<Service>;
}

/** Makes a command that gets its options as the values that they mean. */
export function command<Service, Of extends Options>(written: CommandOf<Service, Of>): Command<Service> {
  const { options = {}, needsOption = false } = written;
  return {
    ...written,
    prepare: (sent, id) => {
      const given = { ...(valuesOf(options, sent) as ValuesOf<Of>), id };
      if (needsOption && Object.keys(options).every((name) => sent[name] === undefined)) {
        const names = Object.keys(options).map((name) => `--${name}`);
        throw new UsageError(`at least one of ${names.slice(0, -1).join(', ')} and ${names.at(-1)} is needed.`);
      }
      written.check?.(given);
      return (service, now) => written.run(service, given, now);
    },
  };
}

function valuesOf(options: Options, sent: SentOptions): Readonly<Record<string, unknown>> {
  const values = Object.entries(options).map(([name, option]) => {
    const text = sent[name];
    if (option.isNeeded === true && (text === undefined || text === '')) throw new UsageError(`--${name} is needed.`);
    return [name, text === undefined ? undefined : option.parse(name, String(text))];
  });
  return Object.fromEntries(values) as Readonly<Record<string, unknown>>;
}

/** A command that needs no settings and no database. */
export interface StandaloneCommand extends CommandHelp {
  runAlone(): Output;
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
  /** Sentences before the list of commands. */
  readonly introduction: string;
  serve(database: OpenedDatabase, config: Config): Served<Service>;
}

const succeeded = 0;
const failed = 1;
const misused = 2;

/** Returns the exit code: 0 when done, 1 when refused or impossible, 2 for a wrong command line. */
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

function parse<Service>(
  { commands, idName, ...line }: CommandLine<Service>,
  [name, ...args]: readonly string[],
): Request | 'help' {
  if (name === undefined) throw new UsageError(`a command is needed: ${Object.keys(commands).join(', ')}.`);
  if (name === '--help' || name === '-h' || name === 'help') return 'help';
  const found = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (found === undefined) {
    throw new UsageError(`there is no command ${JSON.stringify(name)}: use ${Object.keys(commands).join(', ')}.`);
  }
  const { values, positionals } = readArguments(found, args);
  const { json, help, ...given } = values;
  if (help === true) return 'help';
  const [id = '', ...others] = positionals;
  if (found.id === 'needed' && id === '') throw new UsageError(`${name} needs ${idName}; \`list\` shows them.`);
  const surplus = found.id === undefined ? positionals : others;
  if (surplus.length > 0) throw new UsageError(`${name} takes no ${JSON.stringify(surplus[0])}.`);
  const asJson = json === true;
  if ('runAlone' in found) return { run: async () => found.runAlone(), asJson };
  const work = found.prepare(given, id);
  return { run: (environment) => execute(line, work, environment), asJson };
}

function readArguments({ options = {} }: CommandHelp, args: string[]) {
  const own = Object.fromEntries(
    Object.entries(options).map(([name, { value }]) => [
      name,
      { type: value === undefined ? ('boolean' as const) : ('string' as const) },
    ]),
  );
  return parseOptions({
    args,
    options: { ...own, json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
    allowPositionals: true,
  });
}

async function execute<Service>(
  line: Pick<CommandLine<Service>, 'serve'>,
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
    return error.violations.map(({ field, message }) => `${optionOf(line, field)} ${message}`).join('\n');
  }
  // The cause is more useful to an operator than the message for clients.
  if (error instanceof DomainError && error.cause !== undefined) return explain(line, error.cause);
  if (error instanceof AggregateError && error.errors.length > 0) return explain(line, error.errors[0]);
  return error.message;
}

/** The option that sets a field of the domain. */
function optionOf<Service>(line: CommandLine<Service>, field: string): string {
  const [name = field, option] = optionsOf(line).find(([, each]) => each.field === field) ?? [];
  return option?.unit === undefined ? `--${name}` : `--${name} (${option.unit})`;
}

function optionsOf<Service>({ commands }: CommandLine<Service>): [name: string, option: Option][] {
  return [...new Map(Object.values(commands).flatMap(({ options = {} }) => Object.entries(options)))];
}

function helpOf<Service>(line: CommandLine<Service>): string {
  const { name, introduction, commands } = line;
  const summaries = Object.entries(commands).map(
    ([each, { summary, ...taken }]) => `  ${[name, each, ...usageOf(taken)].join(' ')}\n      ${summary}.`,
  );
  const explained = optionsOf(line).map(([each, { value, help }]) => [withValue(each, value), help] as const);
  const explanations = [...explained, ['--json', 'for programs'], ['--help', 'shows this']].map(
    ([each = '', help = '']) =>
      `  ${each.padEnd(helpColumn)}  ${help.replaceAll('\n', `\n${' '.repeat(helpColumn + 4)}`)}`,
  );
  return `${introduction}

${summaries.join('\n')}

${explanations.join('\n')}

It acts on the database of DATABASE_URL, or the embedded one in DATA_DIR, whether the service runs or not, and says
which on standard error. It makes none: give it the settings of the service.
The exit code is 0, or 1 when it can't be done, or 2 for a wrong command line.`;
}

const helpColumn = 18;

/** The arguments after the command's name. */
function usageOf({ id, options = {} }: Omit<CommandHelp, 'summary'>): string[] {
  const shown = Object.entries(options).map(([name, { value, isNeeded }]) =>
    isNeeded === true ? withValue(name, value) : `[${withValue(name, value)}]`,
  );
  if (id === undefined) return shown;
  return [id === 'needed' ? 'ID' : '[ID]', ...shown];
}

function withValue(name: string, value: string | undefined): string {
  return value === undefined ? `--${name}` : `--${name} ${value}`;
}
