import { redactKeys } from '../domain/access/api-key.ts';
import { pathOf } from './route-table.ts';

const maxLoggedPath = 200;

/** Without its query, shortened, and decoded where a key is hidden in its escapes. */
export function loggedPath(url: string): string {
  const path = pathOf(url);
  const redacted = redactKeys(unescaped(path));
  return (redacted === unescaped(path) ? path : redacted).slice(0, maxLoggedPath);
}

function unescaped(path: string): string {
  return path.replace(/%([0-9a-f]{2})/gi, (_escape, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
