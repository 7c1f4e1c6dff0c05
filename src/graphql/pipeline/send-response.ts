import type { FastifyReply, FastifyRequest } from 'fastify';

import { graphqlTypes } from '../../http/failure-response.ts';
import { preferredType, sendChunks } from '../../platform/http/index.ts';
import { eventStreamType, namesEventStream, singleEvent } from '../streams/framing.ts';
import type { GraphQLResponse } from './response.ts';

/**
 * Sends a response as JSON, or as the only result of a stream: by default where its client accepts nothing else.
 */
export function sendResponse(
  request: FastifyRequest,
  reply: FastifyReply,
  { status, headers, chunks, body }: GraphQLResponse,
  asEvent?: boolean,
): void {
  const { accept } = request.headers;
  const type = preferredType(accept, graphqlTypes);
  const isEvent = asEvent ?? (type === undefined && (status === 200 || status === 400) && namesEventStream(accept));
  void reply
    .code(isEvent ? 200 : status)
    .header('content-type', isEvent ? eventStreamType : `${type ?? graphqlTypes[0]}; charset=utf-8`)
    .header('cache-control', 'no-store')
    .headers(headers);
  const { start, end } = singleEvent;
  sendChunks(request, reply, isEvent ? [start, ...chunks, body.trimEnd(), end] : [...chunks, body]);
}
