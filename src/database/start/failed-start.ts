import { isLoss } from '../../platform/postgres/index.ts';
import { plainText } from '../../platform/shown-error.ts';

/** Errors whose message is enough; all others are shown with their stack. */
const plainErrors = new Set([
  'ConfigError',
  'ConnectionFailure',
  'EmbeddedPostgresInUse',
  'UnsuitableCounters',
  'UnsuitableServer',
  'UnusableDocuments',
  'UnusableDataDirectory',
  'UnusableDatabaseUrl',
]);

/** The system's and PostgreSQL's codes for an unusable address, database, password or disk. */
const plainCodes =
  /^(?:EACCES|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|25006|28...|3D...|42501|57P0.|53...)$/;

/**
 * Explains to an operator why the start failed: one line for a wrong setting or an unusable database, the stack for
 * anything else. For a terminal: what a server has said is in it.
 */
export function explainFailure(error: unknown): string {
  return plainText(explanationOf(error));
}

function explanationOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // The message for clients hides the cause that an operator needs; when several addresses refuse, the first is enough.
  const isOfCause = error.name === 'DomainError' || error.name === 'DatabaseUnavailable';
  if (isOfCause && error.cause !== undefined) return explanationOf(error.cause);
  if (error instanceof AggregateError && error.errors.length > 0) return explanationOf(error.errors[0]);
  const isMissing = /^(?:extension|could not open extension).*pg_trgm/.test(error.message);
  const code = 'code' in error ? String(error.code) : '';
  const isPlain = isMissing || plainErrors.has(error.name) || plainCodes.test(code) || isOfDatabase(error);
  if (!isPlain) return error.stack ?? error.message;
  const advice = adviceFor(error);
  return advice === undefined ? error.message : `${error.message}\n${advice}`;
}

/** What the database has said, or how its connection has ended: our stack says nothing about it. */
function isOfDatabase(error: Error): boolean {
  return 'severity' in error || isLoss(error);
}

const guide = 'The section "Roles" of .github/OPERATIONS.md has the commands.';

/** What would be right on a server on which nothing was set up yet. */
function adviceFor({ message, code }: Error & { readonly code?: unknown }): string | undefined {
  const isDenied = code === '42501';
  if (message.includes('pg_trgm')) {
    return isDenied
      ? `The owner of the database may create it, or a superuser: create extension pg_trgm. ${guide}`
      : "Install PostgreSQL's contrib modules on its server: pg_trgm is one of them.";
  }
  if (isDenied)
    return `Migrations need a role that owns the database, the service one with rights on the tables. ${guide}`;
  return code === '3D000' ? `Create it first. ${guide}` : undefined;
}
