import { expect, it } from '@jest/globals';

import { responseTo, portOf } from '../platform/http/raw-requests.ts';
import { startTestApp } from '../support/test-app.ts';

const rest = await startTestApp({ LOG_LEVEL: 'info' });
const petId = (await rest.pet()).id;

const announced = (id: string) => ({
  deprecation: '@1764892800',
  sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
  link: `</docs>; rel="deprecation"; type="text/html", </pets?id=${id}>; rel="successor-version"`,
});

it('is announced by GET /pets/{petId}, whatever the status', async () => {
  const url = `/pets/${petId}`;
  const { headers: found, status } = await rest.ask('GET', url);
  expect([status, found]).toMatchObject([200, announced(String(petId))]);
  for (const [expected, path, method, headers] of [
    [200, url, 'HEAD', {}],
    [304, url, 'GET', { 'if-none-match': found['etag']! }],
    [404, '/pets/999999', 'GET', {}],
    [404, '/pets/a%22%3E%0D%0Ab', 'GET', {}],
    [406, url, 'GET', { accept: 'text/html' }],
    [431, url, 'GET', { filler: 'x'.repeat(17_000) }],
  ] as const) {
    const response = await rest.ask(method, path, undefined, headers);
    expect([expected, response.headers]).toMatchObject([response.status, announced(path.slice('/pets/'.length))]);
  }
  await rest.sql('alter table pets rename to pets_away');
  const failed = await rest.ask('GET', url);
  await rest.sql('alter table pets_away rename to pets');
  expect([failed.status, failed.headers]).toMatchObject([500, announced(String(petId))]);
});

it('is announced by what HTTP itself refuses, as far as it shows what was asked for', async () => {
  const port = await portOf(rest.app.server);
  const host = 'Host: x\r\nConnection: close\r\n';
  for (const [expected, text, id] of [
    [400, `GET /pets/%ff HTTP/1.1\r\n${host}\r\n`, '%25ff'],
    [400, `GET /pets/7?x HTTP/1.1\r\n${host}no colon\r\n\r\n`, '7'],
    [400, `HEAD /pets/7 HTTP/1.1\r\n${host}no colon\r\n\r\n`, '7'],
    [400, 'GET /pets/7 HTTP/1.1\r\n\r\n', '7'],
    // What a body is checked after, and what reads none, is answered as it is.
    [401, `GET /pets/7 HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\nzz\r\n`, '7'],
    [404, `GET /pets/7 HTTP/1.1\r\n${host}X-API-Key: ${rest.key}\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`, '7'],
  ] as const) {
    const { status, headers } = await responseTo(port, text);
    expect([text, status, headers]).toMatchObject([text, expected, announced(id)]);
  }
  for (const text of [
    'garbage\r\n\r\n',
    `GET /pets?%ff HTTP/1.1\r\n${host}no colon\r\n\r\n`,
    `PATCH /pets/%ff HTTP/1.1\r\n${host}\r\n`,
    `OPTIONS /pets/%ff HTTP/1.1\r\n${host}\r\n`,
    `PATCH /pets/7 HTTP/1.1\r\n${host}no colon\r\n\r\n`,
  ]) {
    const { status, headers } = await responseTo(port, text);
    expect([text, status, headers['deprecation'], headers['link']]).toEqual([text, 400, undefined, undefined]);
  }
});

it('names no successor whose address would be refused', async () => {
  const { status, headers } = await rest.ask('GET', `/pets/${'7'.repeat(9000)}`);
  const { deprecation, sunset } = announced('');
  const link = '</docs>; rel="deprecation"; type="text/html"';
  expect([status, headers]).toMatchObject([414, { deprecation, sunset, link }]);
});

it('is announced by nothing else', async () => {
  for (const [method, url, body] of [
    ['GET', `/pets?id=${petId}`, undefined],
    ['PATCH', `/pets/${petId}`, { name: 'Max' }],
    ['PUT', `/pets/${petId}`, {}],
    ['OPTIONS', `/pets/${petId}`, undefined],
    ['GET', '/pets/', undefined],
    ['GET', `/inventory/${petId}`, undefined],
  ] as const) {
    const { headers } = await rest.ask(method, url, body);
    expect([url, headers['deprecation'], headers['sunset']]).toStrictEqual([url, undefined, undefined]);
  }
});

it('has a successor that returns the same pet', async () => {
  const { headers, text } = await rest.ask('GET', `/pets/${petId}`);
  const successor = /<([^>]+)>; rel="successor-version"/.exec(headers['link']!)![1]!;
  expect((await rest.ask('GET', successor)).text).toBe(`[${text}]`);
});

it('is counted by call, and the log has the key', async () => {
  const counted = async (): Promise<number> =>
    Number(
      /deprecated_calls_total\{operation="getPet",plan="enterprise"\} (\d+)/.exec(
        (await rest.ask('GET', '/metrics')).text,
      )?.[1],
    );
  const before = await counted();
  rest.log.length = 0;
  await rest.ask('GET', `/pets/${petId}`);
  await rest.ask('GET', '/pets/999999');
  await rest.ask('GET', '/pets');
  expect((await counted()) - before).toBe(2);
  expect(rest.log.filter((line) => 'deprecated' in line)).toMatchObject([
    { route: '/pets/:petId', status: 200, deprecated: true, key: expect.stringMatching(/^\d+$/) },
    { route: '/pets/:petId', status: 404, deprecated: true, key: expect.stringMatching(/^\d+$/) },
  ]);
});
