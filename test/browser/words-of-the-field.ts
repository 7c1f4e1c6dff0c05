/** What a reader searches for, and the heading that comes first in the guides of GraphQL, and in the reference. */
export const wordsOfTheField = [
  ['paging', 'Pagination and cursors', 'cursor pagination'],
  ['pagination', 'Pagination and cursors', 'cursor pagination'],
  // In the reference, the operations that have it.
  ['cursor', 'Pagination and cursors', 'List '],
  ['webhook', 'Webhooks', 'stream or webhook'],
  ['retry', 'Retry after a 429', 'retry and backoff'],
  ['backoff', 'Backoff and jitter', 'retry and backoff'],
  ['CORS', 'CORS and browsers', 'CORS and browsers'],
  ['rate limit', 'Rate limits and bans', 'Limits and rate limits'],
  ['429', 'Retry after a 429', 'retry and backoff'],
  ['changelog', 'Changelog', 'Changelog'],
  ['versioning', 'Versioning', 'versioning'],
] as const;
