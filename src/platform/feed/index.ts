export { type Framing, multipart, serverSentEvents, singleEvent } from './framing.ts';
export { type EventMove, type EventMoves, Sequencer } from './sequencer.ts';
export type { FeedStream } from './stream.ts';
export { FeedStreams, type StreamEnd, type StreamHolder, type StreamTerms } from './streams.ts';
