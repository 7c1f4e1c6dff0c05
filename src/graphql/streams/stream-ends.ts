import type { ShareLimit } from '../../platform/callers/index.ts';
import type { StreamEnd } from '../../platform/feed/index.ts';
import { HttpError } from '../../http/error-table.ts';
import { asGraphQLError } from '../pipeline/errors.ts';
import { refusalResponse } from '../pipeline/response.ts';

// The refusals that a stream ends with, or that it doesn't begin for.

export function endFor(error: unknown): StreamEnd {
  const { body, codes } = refusalResponse(asGraphQLError(error));
  return { body: body.trimEnd(), code: codes[0] ?? 'INTERNAL_SERVER_ERROR' };
}

/** When an opening is worth another try, in seconds. */
const tooManyRetrySeconds = 5;

/** The streams that a key, or all keys, may have at a time are open. */
export function tooMany(limit: ShareLimit, held: number): HttpError {
  return limit === 'client'
    ? new HttpError('RATE_LIMITED', `This key has all its event streams open (${held}): end one of them first.`, {
        retryAfterSeconds: tooManyRetrySeconds,
      })
    : new HttpError('UNAVAILABLE', 'Too many event streams are open at the moment. Try again in a few seconds.', {
        retryAfterSeconds: tooManyRetrySeconds,
      });
}

export function draining(): HttpError {
  const message = 'This process of the service is stopping: open the stream again, after the last id.';
  return new HttpError('UNAVAILABLE', message, { retryAfterSeconds: 1 });
}

export function lastedLong(): HttpError {
  return new HttpError(
    'STREAM_ENDED',
    'The stream has lasted for about an hour: open the next one, after the last id.',
  );
}

export function scopesChanged(): HttpError {
  return new HttpError('STREAM_ENDED', 'The scopes of the key have changed: open the next stream, after the last id.');
}

export function keyEnded(): HttpError {
  return new HttpError('UNAUTHORIZED', 'The stream has ended: its key is revoked, expired, or replaced by a new one.');
}

export function banned(retryAfterSeconds: number): HttpError {
  const message = `The stream has ended: its key is banned for another ${retryAfterSeconds} s.`;
  return new HttpError('KEY_BANNED', message, { retryAfterSeconds });
}

export function daySpent(retryAfterSeconds: number): HttpError {
  const message = `The stream has ended: five minutes, 1,000 events or a MiB cost a request each, and the day's are all spent. The next ones are in ${retryAfterSeconds} s.`;
  return new HttpError('RATE_LIMITED', message, { retryAfterSeconds });
}
