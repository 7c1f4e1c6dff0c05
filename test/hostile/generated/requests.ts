import fc from 'fast-check';

import { body } from '../documents.ts';
import { kindOf } from './act.ts';

/** GraphQL requests with documents and variables of all sorts, at once. */
export const requests = kindOf('requests', fc.array(body, { minLength: 1, maxLength: 8 }), (bodies, { target }) =>
  Promise.all(
    bodies.map(async (each) => {
      const { status, text } = await target.graphql(each);
      if ((status >= 500 && status !== 503) || text.includes('INTERNAL_SERVER_ERROR'))
        throw new Error(`${status} ${text.slice(0, 500)} to ${each.slice(0, 2_000)}`);
      return status;
    }),
  ),
);
