import { TypeNameMetaFieldDef, type GraphQLField } from 'graphql';
import { Extensions } from 'type-graphql';

/**
 * Marks a field that its resolver computes from its object alone: it loads nothing, so that a list may pause between
 * objects.
 */
export function Computed(): MethodDecorator {
  return Extensions({ computed: true });
}

export function isComputed(field: GraphQLField<unknown, unknown>): boolean {
  return field.extensions['computed'] === true || field === TypeNameMetaFieldDef;
}
