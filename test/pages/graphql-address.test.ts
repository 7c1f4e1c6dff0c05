import { readFileSync } from 'node:fs';

import { expect, it } from '@jest/globals';

import { startTestApp } from '../support/test-app.ts';

const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

const app = await startTestApp();

const open = (accept: string) => app.app.server.inject({ url: '/graphql', headers: { accept } });

it('in a browser, which has no key, /graphql names the explorer and the guides', async () => {
  const { statusCode, headers, body } = await open(browser);
  expect([statusCode, headers['content-type']]).toEqual([401, 'text/html; charset=utf-8']);
  expect(body).toContain('<a href="/graphiql">explorer</a>');
  expect(body).toContain('<a href="/docs/graphql">');
  expect(headers).toMatchObject({
    vary: 'Authorization, X-API-Key, Accept, Origin',
    'x-ratelimit-remaining': expect.any(String),
    'content-security-policy': expect.stringMatching(/^default-src 'none'/),
  });
});

it.each(['*/*', 'application/json', 'text/html, application/graphql-response+json', 'application/json, text/html'])(
  'a program that accepts %s gets JSON there',
  async (accept) => {
    const { statusCode, headers } = await open(accept);
    expect([statusCode, headers['content-type']]).toEqual([401, expect.stringMatching(/^application\/.*json/)]);
  },
);

it('the schema of the whole service is public at /schema.graphql', async () => {
  const { statusCode, headers, body } = await app.app.server.inject('/schema.graphql');
  expect([statusCode, headers['x-ratelimit-limit']]).toEqual([200, undefined]);
  expect(body).toBe(readFileSync('schema.graphql', 'utf8'));
});
