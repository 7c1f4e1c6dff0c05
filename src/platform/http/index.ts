export { acceptedRanges, asksFor, type MediaRange, preferredType } from './accept.ts';
export { httpBounds } from './bounds.ts';
export { sendChunks } from './chunked-response.ts';
export {
  beginWork,
  clientGone,
  continueAfter,
  decorateServer,
  detachResponse,
  endWork,
  openRequest,
} from './bounded-request.ts';
export { drain } from './drain.ts';
export { decodeJson, isExact, parseJson } from './exact-json.ts';
export {
  type HttpLimits,
  maxBodyBytes,
  maxHeaderBytes,
  maxJsonDepth,
  maxJsonValues,
  maxTargetBytes,
} from './limits.ts';
export { LogDestination } from './log-destination.ts';
export { MetricsText } from './metrics-text.ts';
export { createNodeServer } from './node-server.ts';
export { Refusal } from './refusal.ts';
export { findMalformation, headersTooLarge, targetTooLong } from './request-checks.ts';
