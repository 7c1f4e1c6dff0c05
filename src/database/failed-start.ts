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

/** Explains to an operator why the start failed: one line for a wrong setting or an unusable database, the stack for anything else. */
export function explainFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // The message for clients hides the cause that an operator needs; when several addresses refuse, the first is enough.
  if (error.name === 'DomainError' && error.cause !== undefined) return explainFailure(error.cause);
  if (error instanceof AggregateError && error.errors.length > 0) return explainFailure(error.errors[0]);
  const isPlain = plainErrors.has(error.name) || ('code' in error && plainCodes.test(String(error.code)));
  return isPlain ? error.message : (error.stack ?? error.message);
}
