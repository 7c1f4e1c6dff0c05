import type { ApiKeyChange } from './api-key-change.entity.ts';

/** Describes a change, one line per property: `plan: free → pro`. */
export function describeChanges({ changes }: Pick<ApiKeyChange, 'changes'>): string[] {
  return Object.entries(changes).map(([property, { from, to }]) => {
    return isUnset(from) ? `${property}: ${described(to)}` : `${property}: ${described(from)} → ${described(to)}`;
  });
}

function described(value: unknown): string {
  if (isUnset(value)) return 'none';
  return Array.isArray(value) ? value.join(',') : String(value);
}

function isUnset(value: unknown): boolean {
  return value === null || value === undefined;
}
