import { expect, it } from '@jest/globals';

import { receive, send } from '../platform/http/raw-requests.ts';
import { adminKey, Service } from '../support/service.ts';
import { copyEmbeddedStore } from '../support/test-database.ts';

const service = await Service.start(await copyEmbeddedStore());

/** The response to the headers is still being made when the parser refuses the body as well. OPTIONS may be first. */
it.each(['OPTIONS /nope', 'POST /nope', 'OPTIONS /pets', 'POST /pets/%zz', 'POST /graphql', 'PUT /graphql'])(
  'outlives a body that is broken behind %s',
  async (start) => {
    for (const sent of ['', 'X-API-Key: zzz\r\n', `X-API-Key: ${adminKey}\r\n`]) {
      const head = `${start} HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\n${sent}Transfer-Encoding: chunked\r\n\r\n`;
      const responses = await Promise.all(
        Array.from({ length: 8 }, async () => receive(await send(service.port, `${head}ZZ\r\n`))),
      );
      const expected = start === 'OPTIONS /pets' ? /^HTTP\/1\.1 (?:204|400) / : /^HTTP\/1\.1 4\d\d /;
      for (const response of responses) expect(response).toMatch(expected);
    }
    expect((await fetch(`${service.address}/healthz`)).status).toBe(200);
  },
);
