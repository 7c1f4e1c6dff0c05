export { Feed } from './feed.ts';
export { type EventMove, type EventMoves, Sequencer } from './sequencer.ts';
export type { FeedStream, Framing, StreamEnd, StreamTerms, Subscriber } from './stream.ts';
export { FeedStreams } from './streams.ts';
