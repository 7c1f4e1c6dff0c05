import type { FastifyInstance, FastifyRequest } from 'fastify';

import type { ApiRoutes } from '../http/api.ts';
import { deprecationNotice } from '../http/deprecation.ts';
import type { RestOperation, OperationId } from './openapi/document.ts';
import { categoryRoutes } from './categories/category.routes.ts';
import { eventRoutes } from './events/event.routes.ts';
import type { Handlers } from './handler.ts';
import { inventoryRoutes } from './inventory/inventory-item.routes.ts';
import { findUnacceptable, findUnsupported } from './media-types.ts';
import { compileOperation, type OperationContext } from './operation.ts';
import { orderRoutes } from './orders/order.routes.ts';
import { petRoutes } from './pets/pet.routes.ts';

export interface RestOptions extends OperationContext {
  readonly operations: readonly RestOperation[];
  /** Called for each request of a deprecated operation, when its response has been sent. */
  readonly onDeprecatedCall: (operationId: OperationId, request: FastifyRequest) => void;
}

const handlers: Handlers = {
  ...petRoutes,
  ...categoryRoutes,
  ...orderRoutes,
  ...inventoryRoutes,
  ...eventRoutes,
};

/** The page that describes the deprecation. */
const docsPage = '/docs';

/** The routes of the OpenAPI document's operations: one without a handler, or a handler without one, doesn't compile. */
export function createRestRoutes(options: RestOptions): ApiRoutes {
  const { operations } = options;
  return async (api) => {
    await api.register(async (rest) => {
      // Content types are checked per operation. Fingerprints and exact integers need the bytes as they were sent.
      rest.addContentTypeParser('*', (request, payload, done) => rest.bodies.read(request, payload, done));
      for (const operation of operations) addRoute(rest, operation, options);
    });
  };
}

function addRoute<Id extends OperationId>(
  rest: FastifyInstance,
  operation: RestOperation<Id>,
  options: RestOptions,
): void {
  const { prefix, onDeprecatedCall } = options;
  const { operationId, method, path, scopes, body, deprecation } = operation;
  rest.route({
    method: method === 'GET' ? ['GET', 'HEAD'] : [method],
    // Fastify's own HEAD route would give a whole collection a content-length of 0.
    exposeHeadRoute: false,
    url: prefix + path.replaceAll(/\{(\w+)\}/g, ':$1'),
    config: {
      operationId,
      scopes,
      ...(deprecation && {
        deprecation: deprecationNotice({ ...deprecation, page: docsPage, successor: prefix + deprecation.successor }),
        deprecated: [{ coordinate: `${method} ${path}`, sunset: deprecation.sunset }],
      }),
    },
    onRequest: (request, _reply, done) => {
      done(findUnacceptable(request.headers) ?? (body && findUnsupported(request, body.mediaTypes)));
    },
    ...(deprecation && {
      onResponse: (request, _reply, done) => {
        onDeprecatedCall(operationId, request);
        done();
      },
    }),
    handler: compileOperation(operation, handlers[operationId], options),
  });
}
