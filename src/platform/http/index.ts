export { acceptedRanges, asksFor, type MediaRange, preferredType } from './accept.ts';
export {
  httpBounds,
  type HttpLimits,
  maxBodyBytes,
  maxHeaderBytes,
  maxJsonDepth,
  maxJsonValues,
  maxTargetBytes,
} from './limits.ts';
export {
  beginWork,
  clientGone,
  continueAfter,
  decorateServer,
  detachResponse,
  endWork,
  openRequest,
  sendChunks,
} from './bounded-request.ts';
export { drain } from './drain.ts';
export { parseJson } from './exact-json.ts';
export { LogDestination } from './log-destination.ts';
export { MetricsText } from './metrics-text.ts';
export { createNodeServer, findMalformation, headersTooLarge, targetTooLong } from './node-server.ts';
export { Refusal } from './refusal.ts';
