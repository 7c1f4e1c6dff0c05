import type { GraphQLResolveInfo } from 'graphql';

import type { Include } from '../domain/store.ts';
import type { PreparedInfo } from '../platform/executor/index.ts';

/**
 * The relations that the operation selects on the rows that this field returns: directly, in a connection, or in a
 * payload.
 *
 * Computed once for each prepared operation, so that rows are read together with their relations.
 */
export function relationsOf<Relation extends string>(info: GraphQLResolveInfo): Include<Relation> {
  return (info as PreparedInfo).relations() as Include<Relation>;
}
