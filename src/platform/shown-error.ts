import { stripVTControlCharacters } from 'node:util';

/**
 * The members of an error that are written, in the log and for people: chosen members only. Others hold whatever a
 * library has put there, an address with its password among them.
 */
interface ShownError {
  /** The name of its class. */
  readonly type: string;
  readonly code?: string | number;
  readonly message: string;
  readonly stack?: string;
  readonly cause?: ShownError;
  /** The first of several. */
  readonly errors?: readonly ShownError[];
}

const maxMessageLength = 2_000;
const maxStackLength = 8_000;
const maxDepth = 5;
const maxErrors = 5;

/** For a line of the log. What was thrown may be anything. */
export function shownError(error: unknown, depth = 0): ShownError {
  if (!(error instanceof Error)) return { type: typeof error, message: shortened(String(error), maxMessageLength) };
  const { name, message, stack, cause, code } = error as Error & { readonly code?: unknown };
  const errors: readonly unknown[] = error instanceof AggregateError ? error.errors : [];
  const isDeep = depth === maxDepth;
  return {
    type: shortened(name, maxMessageLength),
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    message: shortened(message, maxMessageLength),
    ...(stack === undefined ? {} : { stack: shortened(stack, maxStackLength) }),
    ...(cause === undefined || isDeep ? {} : { cause: shownError(cause, depth + 1) }),
    ...(errors.length === 0 || isDeep
      ? {}
      : { errors: errors.slice(0, maxErrors).map((each) => shownError(each, depth + 1)) }),
  };
}

/** Line feeds and tabs stay. */
// oxlint-disable-next-line no-control-regex -- a terminal obeys them
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** For a terminal: what a server has said is in it, and a terminal obeys control characters. */
export function plainText(text: string): string {
  return stripVTControlCharacters(shortened(text, maxStackLength)).replace(controls, '');
}

function shortened(text: string, maxLength: number): string {
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
}
