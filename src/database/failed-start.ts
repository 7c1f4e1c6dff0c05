/** Errors that tell their whole story in one line; everything else is shown with where it came from. */
const plainErrors = new Set([
  'ConfigError',
  'ConnectionFailure',
  'EmbeddedPostgresInUse',
  'UnsuitableServer',
  'UnusableDocuments',
  'UnusableDataDirectory',
  'UnusableDatabaseUrl',
]);

/** The system's and PostgreSQL's own words for an address, a database, a password or a disk that is of no use. */
const plainCodes =
  /^(?:EACCES|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|25006|28...|3D...|42501|57P0.|53...)$/;

/** Explains to an operator why the start failed: one line for a wrong setting or an unusable database, the stack for anything else. */
export function explainFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // The message for clients hides the cause that an operator needs; of several addresses that all refuse, one is enough.
  if (error.name === 'DomainError' && error.cause !== undefined) return explainFailure(error.cause);
  if (error instanceof AggregateError && error.errors.length > 0) return explainFailure(error.errors[0]);
  const isPlain = plainErrors.has(error.name) || ('code' in error && plainCodes.test(String(error.code)));
  return isPlain ? error.message : (error.stack ?? error.message);
}
