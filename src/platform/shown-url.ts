/**
 * An @ after the end of the host. It is the one after a password whose own / ? or # has ended the host: any part of what
 * was read could be a part of the password.
 */
const misplacedAt = /\/\/[^/?#]*[/?#].*@/s;

export function hasMisplacedAt(url: string): boolean {
  return misplacedAt.test(url);
}

export const percentEncoding =
  'Percent-encode the user, the password and the parameters: / is %2F, # %23, ? %3F, @ %40, : %3A, % %25, & %26, a space %20.';

/** For people: without password and parameters. The URL has no misplaced @. */
export function shownUrl(url: string): string {
  return url.replace(/(:\/\/[^:/?#@]*)(?::[^/?#]*)?@/, '$1@').replace(/[?#].*/s, '');
}
