import fc from 'fast-check';

import type { Kind } from './act.ts';
import { bodies } from './bodies.ts';
import { requests } from './requests.ts';
import { results } from './results.ts';
import { streams, writes } from './streams.ts';

/** All kinds of acts, and how often there is one of each. */
export const anyAct: Kind = fc.oneof(
  { weight: 3, arbitrary: requests },
  { weight: 2, arbitrary: bodies },
  { weight: 1, arbitrary: results },
  { weight: 3, arbitrary: streams },
  { weight: 2, arbitrary: writes },
);
