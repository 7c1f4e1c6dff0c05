import { expect } from '@jest/globals';

/** The headers of every response of the API, whatever its status. */
export const quotaHeaders = {
  'x-ratelimit-limit': expect.stringMatching(/^\d+$/),
  'x-ratelimit-remaining': expect.stringMatching(/^\d+$/),
  'x-ratelimit-reset': expect.stringMatching(/^\d{10}$/),
  'ratelimit-policy': expect.stringMatching(/^"minute";q=\d+;w=60, "day";q=\d+;w=86400$/),
  ratelimit: expect.stringMatching(/^"minute";r=\d+;t=\d+, "day";r=\d+;t=\d+$/),
};
