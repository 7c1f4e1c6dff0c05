import { setDatabaseVariables } from './config.ts';
import { FailedDatabase } from './failed-database.ts';
import { isLoss } from '../platform/postgres/index.ts';
import { plainText } from '../platform/shown-error.ts';
import { percentEncoding, shownUrl } from '../platform/shown-url.ts';

/** Errors whose message is enough; all others are shown with their stack. */
const plainErrors = new Set([
  'ConfigError',
  'ConnectionFailure',
  'EmbeddedPostgresInUse',
  'FailedWorkers',
  'NotEnoughMemory',
  'UnsuitableCounters',
  'UnsuitableServer',
  'UnusableDocuments',
  'UnusableDataDirectory',
  'UnusableDatabaseUrl',
]);

/** The system's and PostgreSQL's codes for an unusable address, database, password or disk. */
const plainCodes =
  /^(?:EACCES|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|25006|28...|3D...|42501|57P0.|53...)$/;

/** With the stack only where nothing else explains it. For a terminal: what a server has said is in it. */
export function explainFailure(error: unknown): string {
  return plainText(explanationOf(error));
}

/** Errors that another start would end with as well: a setting, or what it names, has to be changed. */
const finalErrors = new Set(['ConfigError', 'UnsuitableCounters', 'UnsuitableServer', 'UnusableDocuments']);

/** The same of one process of several, and whether it is worth to start another one. */
export function failureOf(error: unknown): { readonly reason: string; readonly isFinal: boolean } {
  const cause = causeOf(error instanceof FailedDatabase ? error.cause : error);
  return { reason: explainFailure(error), isFinal: cause instanceof Error && finalErrors.has(cause.name) };
}

/** The same for a start that goes on without Redis. */
export function explainLostRedis(url: string | undefined, reason: unknown): string {
  const { message } = reason as Error;
  const lines = [
    `Redis can't be used: REDIS_URL (${shownUrl(url ?? '')}): ${message}`,
    adviceFor(reason as Error, redisAdvice),
    'Until it can, this process counts quotas alone; it tries again every half second.',
  ];
  return lines.filter((line) => line !== undefined).join('\n');
}

function explanationOf(error: unknown): string {
  const cause = causeOf(error instanceof FailedDatabase ? error.cause : error);
  if (!(cause instanceof Error)) return String(cause);
  if (!isPlain(cause)) return cause.stack ?? cause.message;
  if (!(error instanceof FailedDatabase)) return cause.message;
  const explanation = `DATABASE_URL (${shownUrl(error.url)}): ${cause.message}`;
  // The message says what has to be changed, and quotes statements.
  const advice = cause.name === 'UnsuitableServer' ? undefined : adviceFor(cause, databaseAdvice);
  return [explanation, advice, noteOfVariables()].filter((line) => line !== undefined).join('\n');
}

/** Parts of the URL that aren't shown. */
function noteOfVariables(): string | undefined {
  const names = setDatabaseVariables();
  if (names.length === 0) return undefined;
  return `The environment has ${names.join(', ')} too, for what DATABASE_URL leaves out.`;
}

/** Messages for clients hide the cause; when several addresses refuse, the first is enough. */
function causeOf(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const isOfCause = error.name === 'DomainError' || error.name === 'DatabaseUnavailable';
  if (isOfCause && error.cause !== undefined) return causeOf(error.cause);
  return error instanceof AggregateError && error.errors.length > 0 ? causeOf(error.errors[0]) : error;
}

/** A message of the database, or the end of its connection, is plain too: our stack says nothing about it. */
function isPlain(error: Error): boolean {
  const code = 'code' in error ? String(error.code) : '';
  return (
    plainErrors.has(error.name) || plainCodes.test(code) || 'severity' in error || isLoss(error) || lacksTrigrams(error)
  );
}

function lacksTrigrams({ message }: Error): boolean {
  return /^(?:extension|could not open extension).*pg_trgm/.test(message);
}

const guide = 'The section "Roles" of .github/OPERATIONS.md has the commands.';

/** The next step, by what is in "code message". The first that matches is taken. */
type Advice = readonly (readonly [pattern: RegExp, advice: string])[];

const tlsAdvice = 'See the section "TLS" of .github/OPERATIONS.md.';

const networkAdvice: Advice = [
  [/TLS|SSL|certificate/i, tlsAdvice],
  [/ECONNREFUSED|ENOENT/, 'Nothing listens there: start the server, or correct host and port.'],
  [/ENOTFOUND|EAI_AGAIN/, 'No address is known for this host: correct its name.'],
  [
    /ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|did not respond within|hasn't responded|Connection timeout/,
    'Nothing has replied there: check host and port, the firewalls between, and whether the server hangs.',
  ],
  [
    /ECONNRESET|[Cc]onnection terminated|[Ss]ocket closed/,
    "The server has closed the connection: see the server's log.",
  ],
];

const databaseAdvice: Advice = [
  [/^42501 .*pg_trgm/s, `The owner of the database may create it, or a superuser: create extension pg_trgm. ${guide}`],
  [/pg_trgm/, "Install PostgreSQL's contrib modules on its server: pg_trgm is one of them."],
  [
    /^42501 .*permission denied for schema/s,
    `This role sees no tables of the service, and may make none: run \`migrate\` as the role that owns them. ${guide}`,
  ],
  [
    /^42501/,
    `Migrations and \`seed\` need a role that owns the database, the service one with rights on the tables. ${guide}`,
  ],
  [/^3D000/, `Create it first. ${guide}`],
  [/^28P01/, `Correct the user or the password. ${percentEncoding}`],
  [/^28.*no PostgreSQL user name/, 'Name the user: postgresql://user:password@host:port/database.'],
  [/^28.*certificate/, tlsAdvice],
  [/^28/, "The server's pg_hba.conf must let this user into this database from this address, with TLS or without."],
  [
    /^53300/,
    'All connections are taken: pg_stat_activity shows by whom. Raise max_connections of the server, or lower DATABASE_POOL.',
  ],
  ...networkAdvice,
];

const redisAdvice: Advice = [
  [/WRONGPASS|NOAUTH|ERR AUTH/, `Correct the user or the password. ${percentEncoding}`],
  [/READONLY/, 'This is a replica: name the master, or its sentinels (redis+sentinel://).'],
  ...networkAdvice,
];

function adviceFor({ message, code }: Error & { readonly code?: unknown }, advice: Advice): string | undefined {
  const text = `${String(code)} ${message}`;
  return advice.find(([pattern]) => pattern.test(text))?.[1];
}
