/** The administrator's key of a database that is used once. */
export const adminKey = 'bench-admin-key-of-a-database-used-once';

/** A key whose quota never runs out, so that it is only counted. */
export async function createKey(address: string): Promise<string> {
  const input = 'name: "Bench", plan: ENTERPRISE, requestsPerMinute: 1000000000, requestsPerDay: 1000000000';
  const response = await fetch(`${address}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${adminKey}` },
    body: JSON.stringify({ query: `mutation { createApiKey(input: { ${input} }) { secret } }` }),
  });
  const { data } = (await response.json()) as { data: { createApiKey: { secret: string } } };
  return data.createApiKey.secret;
}
