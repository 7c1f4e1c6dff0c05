/** A command line that can't be understood: its message says what would be right. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
