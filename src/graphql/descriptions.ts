/** The descriptions that several nouns have in the same words. */
export const common = {
  id: 'Assigned on creation: an int64, the same digits as in REST.',
  newName: 'What it is called: 1 to 255 characters, no control characters. White space at both ends is cut off.',
  changedName: 'A new name, by the same rules as on creation; not null.',
  nameContains:
    'The name contains this text of at most 255 characters, without regard to case; `%` and `_` mean themselves. Counts 500 in complexity for the page, and 500 for `totalCount`.',
  byId: { description: 'By id: the order of creation.' },
  byName: { description: 'By name, code point by code point.' },
} as const;
