/** Marks the requests of the neighbour, for `watched-process.ts`. */
export const neighbourHeader = 'x-neighbour';

/** One of its requests: it reads nothing, so that it waits for nothing but the service itself. */
export const queryOfNothing = '/graphql?query=%7B__typename%7D';
