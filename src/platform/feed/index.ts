export { type Framing, multipart, serverSentEvents, singleEvent } from './framing.ts';
export { type EventMove, type EventMoves, Sequencer } from './sequencer.ts';
export type { FeedStream, StreamEnd, StreamTerms, Subscriber } from './stream.ts';
export { FeedStreams } from './streams.ts';
