import type { GraphQLResolveInfo } from 'graphql';

import type { Include } from '../domain/store.ts';
import type { PreparedInfo } from '../platform/executor/index.ts';

/**
 * The relations that the operation selects on the rows that this field returns: directly, in a connection, or in a
 * payload. Of a payload with rows of several types each is asked for by the name of its field.
 *
 * Computed once for each prepared operation, so that rows are read together with their relations.
 */
export function relationsOf<Relation extends string>(
  info: GraphQLResolveInfo,
  payloadField?: string,
): Include<Relation> {
  return (info as PreparedInfo).relations(payloadField) as Include<Relation>;
}
