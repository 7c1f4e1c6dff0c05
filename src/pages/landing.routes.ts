import type { FastifyInstance } from 'fastify';

import { publicRoute } from './public-route.ts';

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" fill="#e10098">
<ellipse cx="16" cy="22" rx="8" ry="7"/><circle cx="5" cy="15" r="3.5"/><circle cx="11.5" cy="8" r="3.5"/>
<circle cx="20.5" cy="8" r="3.5"/><circle cx="27" cy="15" r="3.5"/></svg>
`;

const addresses = {
  graphql: '/graphql',
  schema: '/schema.graphql',
  openapi: '/openapi.json',
  explorer: '/graphiql',
  docs: '/docs',
  alive: '/healthz',
  ready: '/readyz',
};

/** The small public pages: the links at `/`, the icon, and robots.txt. */
export function registerPages(server: FastifyInstance): void {
  server.get('/', publicRoute, async (request, reply) => {
    void reply.headers({
      vary: 'Accept',
      'cache-control': 'no-cache',
    });
    const isBrowser = request.headers.accept?.includes('text/html') === true;
    return isBrowser ? reply.redirect('/graphiql', 302) : reply.send(addresses);
  });
  server.get('/favicon.ico', publicRoute, async (_request, reply) =>
    reply
      .headers({
        'content-type': 'image/svg+xml',
        'cache-control': 'public, max-age=86400',
      })
      .send(icon),
  );
  server.get('/robots.txt', publicRoute, async (_request, reply) =>
    reply
      .header('cache-control', 'public, max-age=86400')
      .type('text/plain; charset=utf-8')
      .send('User-agent: *\nDisallow: /\n'),
  );
}
