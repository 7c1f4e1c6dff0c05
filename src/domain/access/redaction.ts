import { keyLength, keyMarker, parseKey, shownPrefix } from './api-key.ts';

const secrets = new Set<string>();

/** From now on cut, too: the key of the environment has no checksum by which it is recognised. */
export function alsoRedact(secret: string): void {
  // As it is in a header, and in a string of a line of JSON.
  for (const text of [secret, JSON.stringify(secret).slice(1, -1)]) secrets.add(text);
}

/** For what clients choose. Cut a long text afterwards: the rest of a key would not be recognised. */
export function redactSecrets(text: string): string {
  let redacted = redactKeys(text);
  // A plain search: its time tells nothing. A line of 250 guesses takes 1.3 µs, whether 1 or 24 of their 32 characters are
  // right.
  for (const secret of secrets) redacted = redacted.replaceAll(secret, '…');
  return redacted;
}

function redactKeys(text: string): string {
  if (!text.includes(keyMarker)) return text;
  const [before = '', ...parts] = text.split(keyMarker);
  const redacted = parts.map((part) => {
    const key = (keyMarker + part).slice(0, keyLength);
    return parseKey(key) === undefined
      ? keyMarker + part
      : `${shownPrefix(key)}…${part.slice(keyLength - keyMarker.length)}`;
  });
  return before + redacted.join('');
}
