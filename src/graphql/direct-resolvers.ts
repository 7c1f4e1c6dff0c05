import {
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLSchema,
  type GraphQLTypeResolver,
  isInterfaceType,
  isObjectType,
} from 'graphql';
import { getMetadataStorage } from 'type-graphql';

import type { FieldExtensions } from '../platform/executor/index.ts';

type Resolve = GraphQLFieldResolver<unknown, unknown>;
type MetadataStorage = ReturnType<typeof getMetadataStorage>;
type HandlerMetadata = MetadataStorage['queries'][number] | MetadataStorage['fieldResolvers'][number];
type ParameterMetadata = MetadataStorage['params'][number];
type Method = (...parameters: readonly unknown[]) => unknown;

/**
 * Lets the fields of a schema call the methods of the resolver classes directly, or be the properties of their objects.
 *
 * TypeGraphQL (2.0.0-rc.4) copies the arguments, and the parent, into instances of their classes for every call, which
 * costs more than the methods. graphql-js has coerced the arguments already, and our classes have neither methods nor
 * initial values. A method with middleware, roles or other parameters is still called by TypeGraphQL. A field that is no
 * method is a property of its object; with `simple: false` it may be a promise, or have another name there.
 *
 * The function that resolves an interface's type is called directly, too: TypeGraphQL would wait for it.
 */
export function resolveDirectly(schema: GraphQLSchema): void {
  const { queries, mutations, subscriptions, fieldResolvers, objectTypes, interfaceTypes } = getMetadataStorage();
  const instances = new Map<HandlerMetadata['target'], object>();
  const handled = new Set<GraphQLField<unknown, unknown>>();
  const replace = (typeName: string | undefined, handler: HandlerMetadata): void => {
    const field = fieldsOf(schema, typeName)[handler.schemaName];
    if (field === undefined) return;
    handled.add(field);
    const resolve = directResolver(handler, instances);
    if (resolve !== undefined) field.resolve = resolve;
    if (isComputed(handler)) field.extensions = { ...field.extensions, computed: true } satisfies FieldExtensions;
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
  for (const { name, fields = [] } of objectTypes) {
    const resolved = new Set(fields.flatMap(({ simple, schemaName }) => (simple === false ? schemaName : [])));
    for (const field of Object.values(fieldsOf(schema, name)))
      if (!handled.has(field) && !resolved.has(field.name)) delete field.resolve;
  }
}

function fieldsOf(schema: GraphQLSchema, typeName = ''): Readonly<Record<string, GraphQLField<unknown, unknown>>> {
  const type = schema.getType(typeName);
  return isObjectType(type) ? type.getFields() : {};
}

/** From its object and arguments alone: it has no context to load anything with. */
function isComputed({ params = [] }: HandlerMetadata): boolean {
  const kinds = params.map(({ kind }) => kind);
  return kinds.includes('root') && kinds.every((kind) => kind === 'root' || kind === 'arg' || kind === 'args');
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
