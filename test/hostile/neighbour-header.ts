/** Marks the requests of the neighbour, for `watched-process.ts`. */
export const neighbourHeader = 'x-neighbour';
