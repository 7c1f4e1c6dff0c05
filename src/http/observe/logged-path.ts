import { redactSecrets } from '../../domain/access/redaction.ts';
import { pathOf } from '../route-table.ts';

const maxLoggedPath = 200;

/** Without its query, shortened, and decoded where a key is hidden in its escapes. */
export function loggedPath(url: string): string {
  return redactEscaped(pathOf(url)).slice(0, maxLoggedPath);
}

/** A text of a URL without the keys in it: decoded where one is hidden in its escapes. */
export function redactEscaped(text: string): string {
  const plain = unescaped(text);
  const redacted = redactSecrets(plain);
  return redacted === plain ? text : redacted;
}

function unescaped(path: string): string {
  return path.replace(/%([0-9a-f]{2})/gi, (_escape, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
