import assert from 'node:assert/strict';

import { serverAudits } from 'graphql-http';

import { apiKey, report, serviceUrl } from '../shared/service.ts';

/** The GraphQL over HTTP specification's own audits of a server. */
const audits = serverAudits({
  url: `${serviceUrl}/graphql`,
  fetchFn: (input: RequestInfo | URL, init: RequestInit = {}) => {
    const headers = new Headers(init.headers);
    headers.set('Authorization', `Bearer ${apiKey}`);
    return fetch(input, { ...init, headers });
  },
});

const counts = { ok: 0, notice: 0, warn: 0, error: 0 };
const failures: string[] = [];
for (const audit of audits) {
  const result = await audit.fn();
  counts[result.status] += 1;
  if (result.status === 'error') failures.push(`${audit.id}: ${audit.name}: ${result.reason}`);
}
assert.deepEqual(failures, []);
report({ client: 'graphql-http', audits: audits.length, ...counts });
