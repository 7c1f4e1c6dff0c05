import type { GraphQLResolveInfo } from 'graphql';

import type { Include } from '../domain/store.ts';
import type { PreparedInfo } from '../platform/executor/index.ts';

/** The relations that are selected on the rows of a field. Computed once for each prepared operation. */
export function relationsOf<Relation extends string>(info: GraphQLResolveInfo): Include<Relation> {
  return (info as PreparedInfo).relations() as Include<Relation>;
}
