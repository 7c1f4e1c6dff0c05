import { FieldResolver, ID, Resolver, Root, type ClassType } from 'type-graphql';

import { idOf, nouns, versionOfRow, type NounName, type RowOf } from '../../domain/nouns.ts';
import { encodeNodeId } from './node-id.ts';
import { nodeIdDescription } from './node.type.ts';

/** The resolver that those of all nouns extend: it has the two fields that every row has. */
export function NodeResolver<Name extends NounName>(noun: Name, type: () => ClassType) {
  const { typeName } = nouns[noun];

  @Resolver(type)
  abstract class RowResolver {
    @FieldResolver(() => ID, { description: nodeIdDescription })
    nodeId(@Root() row: RowOf<Name>): string {
      return encodeNodeId(typeName, idOf(noun, row));
    }

    @FieldResolver(() => String, {
      description:
        'Changes with every change of the fields. Opaque; the `ETag` of REST without its quotes. Send it as `ifVersion` with a change.',
    })
    version(@Root() row: RowOf<Name>): string {
      return versionOfRow(noun, row);
    }
  }

  return RowResolver;
}
