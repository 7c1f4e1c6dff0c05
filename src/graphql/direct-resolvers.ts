import { type GraphQLFieldResolver, type GraphQLSchema, type GraphQLTypeResolver, isInterfaceType } from 'graphql';
import { getMetadataStorage } from 'type-graphql';

type Resolve = GraphQLFieldResolver<unknown, unknown>;
type MetadataStorage = ReturnType<typeof getMetadataStorage>;
type HandlerMetadata = MetadataStorage['queries'][number] | MetadataStorage['fieldResolvers'][number];
type ParameterMetadata = MetadataStorage['params'][number];
type Method = (...parameters: readonly unknown[]) => unknown;

/**
 * Lets the fields of a schema call the methods of the resolver classes directly.
 *
 * TypeGraphQL (2.0.0-rc.4) copies the arguments, and the parent, into instances of their classes for every call, which
 * costs more than the methods. graphql-js has coerced the arguments already, and our classes have neither methods nor
 * initial values. A method with middleware, roles or other parameters is still called by TypeGraphQL.
 *
 * The function that resolves an interface's type is called directly, too: TypeGraphQL would wait for it.
 */
export function resolveDirectly(schema: GraphQLSchema): void {
  const { queries, mutations, subscriptions, fieldResolvers, objectTypes, interfaceTypes } = getMetadataStorage();
  const instances = new Map<HandlerMetadata['target'], object>();
  const replace = (typeName: string | undefined, handler: HandlerMetadata): void => {
    const type = typeName === undefined ? undefined : schema.getType(typeName);
    const field = type && 'getFields' in type ? type.getFields()[handler.schemaName] : undefined;
    const resolve = directResolver(handler, instances);
    if (field !== undefined && 'resolve' in field && resolve !== undefined) field.resolve = resolve;
  };
  for (const { name, resolveType } of interfaceTypes) {
    const type = schema.getType(name);
    if (isInterfaceType(type)) type.resolveType = resolveType as GraphQLTypeResolver<unknown, unknown>;
  }
  for (const query of queries) replace(schema.getQueryType()?.name, query);
  for (const mutation of mutations) replace(schema.getMutationType()?.name, mutation);
  for (const subscription of subscriptions) replace(schema.getSubscriptionType()?.name, subscription);
  for (const fieldResolver of fieldResolvers) {
    const target = fieldResolver.kind === 'external' ? fieldResolver.getObjectType?.() : undefined;
    replace(objectTypes.find((type) => type.target === target)?.name, fieldResolver);
  }
}

function directResolver(
  handler: HandlerMetadata,
  instances: Map<HandlerMetadata['target'], object>,
): Resolve | undefined {
  const { target, methodName, params = [], middlewares = [], roles } = handler;
  if (middlewares.length > 0 || roles !== undefined) return undefined;
  const parameters = params.toSorted((a, b) => a.index - b.index).map(parameterOf);
  if (!parameters.every((parameter) => parameter !== undefined)) return undefined;
  const instance = instances.get(target) ?? (Reflect.construct(target, []) as object);
  instances.set(target, instance);
  const method = (instance as Readonly<Record<string, Method>>)[methodName] as Method;
  return (source, args, context, info) =>
    method.apply(
      instance,
      parameters.map((parameter) => parameter(source, args, context, info)),
    );
}

/** Reads a parameter of a method; undefined for one of a kind that only TypeGraphQL knows. */
function parameterOf(parameter: ParameterMetadata): Resolve | undefined {
  if (parameter.kind === 'args') return (_source, args: unknown) => args;
  if (parameter.kind === 'info') return (_source, _args, _context, info) => info;
  if (parameter.kind === 'arg') {
    const { name } = parameter;
    return (_source, args: Readonly<Record<string, unknown>>) => args[name];
  }
  const isWhole = 'propertyName' in parameter && parameter.propertyName === undefined;
  if (parameter.kind === 'root' && isWhole) return (source) => source;
  if (parameter.kind === 'context' && isWhole) return (_source, _args, context) => context;
  return undefined;
}
