import { DirectiveLocation, GraphQLDirective, type OperationDefinitionNode } from 'graphql';

export const atomicDirective = new GraphQLDirective({
  name: 'atomic',
  description:
    'Carries out all root fields of the mutation in one transaction, in their order, or none of them. When one fails, all are null: it with its own error, the others with ABORTED. At most 20 root fields.',
  locations: [DirectiveLocation.MUTATION],
});

export function isAtomic({ operation }: { readonly operation: OperationDefinitionNode }): boolean {
  return operation.directives?.some(({ name }) => name.value === atomicDirective.name) === true;
}
