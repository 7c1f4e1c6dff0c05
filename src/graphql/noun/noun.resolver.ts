import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, FieldResolver, ID, Info, Mutation, Query, Resolver, Root, type ClassType } from 'type-graphql';

import type { Id } from '../../domain/id.ts';
import {
  idOf,
  nouns,
  referencesOf,
  versionOfRow,
  type CollectionOf,
  type NounName,
  type RelationOf,
  type RowOf,
} from '../../domain/nouns.ts';
import type { ListOptions, ListRequest, Page } from '../../domain/page.ts';
import type { Services } from '../../domain/services.ts';
import type { Include, UpdateOptions } from '../../domain/store.ts';
import { isVersion, type Precondition } from '../../domain/version.ts';
import { PageConnection, requestFor } from '../connections/connection.ts';
import type { GraphQLContext } from '../context.ts';
import type { PreparedInfo } from '../../platform/executor/index.ts';
import type { ChildList } from '../loaders.ts';
import { Computed, ToOne } from '../field-extensions.ts';
import { encodeNodeId } from '../node/node-id.ts';
import { nodeIdDescription } from '../node/node.type.ts';
import { Creates, Writes } from '../safe-writes/root-mutations.ts';
import { deletionInput, payloadType, type RowChoice, versionDescription, withArticle } from './noun.type.ts';

/** A resource as GraphQL shows it. */
export interface ShownNoun<Name extends NounName> {
  readonly noun: Name;
  readonly type: () => ClassType;
}

/** A list of a noun's rows as GraphQL shows it. */
interface ShownList {
  readonly connection: ClassType;
  readonly args: ClassType;
}

/** The nouns whose rows have a parent. */
type ChildNoun = {
  [Name in NounName]: Services[CollectionOf<Name>] extends { readonly countPerParent: unknown } ? Name : never;
}[NounName];

/** What resolvers need of the service of a noun. */
interface NounService {
  list(request: ListRequest<object, string>, options: ListOptions<string>): Promise<Page<object>>;
  count(filter: object | null | undefined): Promise<number>;
  create(input: object, include: Include<string>): Promise<object>;
  update(id: string, changes: object, options: UpdateOptions<string>): Promise<object>;
  delete(id: string, precondition: Precondition | undefined): Promise<void>;
}

/** The service of a noun; its inputs are of the types that TypeGraphQL has made of the noun's own. */
function serviceOf(services: Services, noun: NounName): NounService {
  return services[nouns[noun].collection] as object as NounService;
}

/**
 * The relations that the operation selects on the rows that this field returns: directly, in a connection, or in a
 * payload.
 *
 * Computed once for each prepared operation, so that rows are read together with their relations.
 */
export function relationsOf<Relation extends string>(info: GraphQLResolveInfo): Include<Relation> {
  return (info as PreparedInfo).relations() as Include<Relation>;
}

/** The fields of every node. */
export function nodeResolver<Name extends NounName>({ noun, type }: ShownNoun<Name>): ClassType {
  const { typeName } = nouns[noun];

  @Resolver(type)
  class NodeFieldsResolver {
    @Computed()
    @FieldResolver(() => ID, { description: nodeIdDescription })
    nodeId(@Root() row: RowOf<Name>): string {
      return encodeNodeId(typeName, idOf(noun, row));
    }

    @Computed()
    @FieldResolver(() => String, { description: versionDescription })
    version(@Root() row: RowOf<Name>): string {
      return versionOfRow(noun, row);
    }
  }

  return NodeFieldsResolver;
}

/** The row that each relation returns: by its reference, as `categoryId`, or the one of that noun with the same id. */
export function relationResolvers<Name extends NounName>(
  { noun, type }: ShownNoun<Name>,
  relations: Readonly<Record<RelationOf<Name>, { readonly type: () => ClassType; readonly description: string }>>,
): ClassType[] {
  return Object.entries<(typeof relations)[RelationOf<Name>]>(relations).map(([name, relation]) => {
    const reference = `${name}Id`;
    const related = referencesOf(noun)[reference];

    @Resolver(type)
    class RelationResolver {
      @ToOne()
      @FieldResolver(relation.type, { name, nullable: true, description: relation.description })
      find(@Root() row: RowOf<Name>, @Ctx() { loaders }: GraphQLContext): Promise<object | null> | null {
        if (related === undefined) return loaders.byId(name as NounName).load(idOf(noun, row));
        const id = (row as object as Readonly<Record<string, Id | null | undefined>>)[reference];
        return id === null || id === undefined ? null : loaders.byId(related).load(id);
      }
    }

    return RelationResolver;
  });
}

/** The connection of those rows of another noun that name a row: `Category.pets`. */
export function childrenResolver<Name extends NounName>(
  { noun, type }: ShownNoun<Name>,
  child: ChildNoun,
  { connection, args, description }: ShownList & { readonly description: string },
): ClassType {
  const { collection } = nouns[child];
  const field = `${nouns[noun].typeName}.${collection}`;
  const listIn = (services: Services): ChildList => services[collection] as object as ChildList;

  @Resolver(type)
  class ChildrenResolver {
    @FieldResolver(() => connection, { name: collection, nullable: true, description })
    async list(
      @Root() row: RowOf<Name>,
      @Args(() => args) request: ListRequest<object, string>,
      @Ctx() { loaders }: GraphQLContext,
      @Info() info: GraphQLResolveInfo,
    ): Promise<PageConnection<object> | null> {
      const id = idOf(noun, row);
      const include = relationsOf(info);
      const children = loaders.childrenOf(field, listIn);
      const page = await children.page({ request: requestFor(request, info), include }).load(id);
      return page && new PageConnection(page, () => children.count(request.filter).load(id), include);
    }
  }

  return ChildrenResolver;
}

/** `pet(id)` and the connection `pets`; the descriptions of what isn't found and listed by its noun are given. */
export function queryResolver<Name extends NounName>(
  shown: ShownNoun<Name> &
    ShownList & {
      /** The name of the query of one row, and of its argument. */
      readonly name?: string;
      readonly key?: string;
      readonly descriptions?: { readonly one?: string; readonly id?: string; readonly list?: string };
    },
): ClassType {
  const { noun, type, connection, args, name = noun, key = 'id' } = shown;
  const { collection } = nouns[noun];
  const {
    one = `The ${noun} with this id; null when there is none.`,
    id: keyDescription = `The id of ${withArticle(noun)}.`,
    list: listDescription = `The ${collection} of the store, page by page.`,
  } = shown.descriptions ?? {};

  @Resolver()
  class NounQueryResolver {
    @Query(type, { name, nullable: true, description: one })
    find(
      @Arg(key, () => ID, { description: keyDescription }) id: string,
      @Ctx() { loaders }: GraphQLContext,
      @Info() info: GraphQLResolveInfo,
    ): Promise<object | null> {
      return loaders.byId(noun, relationsOf(info)).load(id);
    }

    @Query(() => connection, { name: collection, nullable: true, description: listDescription })
    async list(
      @Args(() => args) request: ListRequest<object, string>,
      @Ctx() { services }: GraphQLContext,
      @Info() info: GraphQLResolveInfo,
    ): Promise<PageConnection<object>> {
      const service = serviceOf(services, noun);
      const include = relationsOf(info);
      const page = await service.list(requestFor(request, info), { include });
      return new PageConnection(page, () => service.count(request.filter), include);
    }
  }

  return NounQueryResolver;
}

/** `createPet` and `updatePet` with their payloads. */
function writeResolver<Name extends NounName>(
  shown: ShownNoun<Name> & {
    readonly createInput: ClassType;
    readonly updateInput: ClassType<RowChoice>;
    readonly descriptions?: { readonly create?: string; readonly updateRefusal?: string };
  },
): ClassType {
  const { noun, type, createInput, updateInput, descriptions = {} } = shown;
  const { typeName } = nouns[noun];
  const description = descriptions.create ?? `Adds ${withArticle(noun)} to the store.`;
  const create = `create${typeName}`;
  const update = `update${typeName}`;
  const CreatePayload = payloadType(create, noun, type, `The new ${noun}.`);
  const UpdatePayload = payloadType(update, noun, type, `The ${noun} as it is now.`);

  @Resolver()
  class NounWriteResolver {
    @Creates()
    @Writes(noun, 'change')
    @Mutation(() => CreatePayload, { name: create, nullable: true, description })
    create(
      @Arg('input', () => createInput, { description: `The new ${noun}.` }) input: object,
      @Ctx() context: GraphQLContext,
      @Info() info: GraphQLResolveInfo,
    ): Promise<object> {
      const include = relationsOf(info);
      return context.mutate(async (services) => ({ [noun]: await serviceOf(services, noun).create(input, include) }));
    }

    @Writes(noun, 'change')
    @Mutation(() => UpdatePayload, {
      name: update,
      nullable: true,
      description: `Changes ${withArticle(noun)}. NOT_FOUND when there is none with this id${descriptions.updateRefusal ?? ''}.`,
    })
    update(
      @Arg('input', () => updateInput, { description: `Which ${noun}, and what to change.` }) input: RowChoice,
      @Ctx() context: GraphQLContext,
      @Info() info: GraphQLResolveInfo,
    ): Promise<object> {
      const options = { include: relationsOf(info), precondition: isVersion(input.ifVersion) };
      return context.mutate(async (services) => ({
        [noun]: await serviceOf(services, noun).update(input.id, input, options),
      }));
    }
  }

  return NounWriteResolver;
}

/** A deletion, where its words aren't the usual ones. */
interface Deletion<Name extends NounName> {
  readonly verb?: string;
  /** The field of the payload. */
  readonly field?: string;
  readonly description: string;
  readonly fieldDescription?: string;
  readonly carryOut?: (service: Services[CollectionOf<Name>], id: string, precondition?: Precondition) => Promise<void>;
}

/** `deletePet`, or by another verb `cancelOrder`, with its payload. */
function deletionResolver<Name extends NounName>({
  noun,
  verb = 'delete',
  field = `deleted${nouns[noun].typeName}Id`,
  description,
  fieldDescription = `The id of the deleted ${noun}.`,
  carryOut = (service, id, precondition) => (service as object as NounService).delete(id, precondition),
}: Pick<ShownNoun<Name>, 'noun'> & Deletion<Name>): ClassType {
  const { typeName, collection } = nouns[noun];
  const name = `${verb}${typeName}`;
  const Input = deletionInput(typeName, noun, verb);
  const Payload = payloadType(name, field, () => ID, fieldDescription);

  @Resolver()
  class NounDeletionResolver {
    @Writes(noun, 'delete')
    @Mutation(() => Payload, { name, nullable: true, description })
    delete(
      @Arg('input', () => Input, { description: `Which ${noun}.` }) { id, ifVersion }: RowChoice,
      @Ctx() context: GraphQLContext,
    ): Promise<object> {
      return context.mutate(async (services) => {
        await carryOut(services[collection] as Services[CollectionOf<Name>], id, isVersion(ifVersion));
        return { [field]: id };
      });
    }
  }

  return NounDeletionResolver;
}

/** The queries, the fields and the mutations that a noun has as every noun. */
export function nounResolvers<Name extends NounName>(
  shown: Parameters<typeof queryResolver<Name>>[0] &
    Parameters<typeof writeResolver<Name>>[0] & { readonly deletion: Deletion<Name> },
): ClassType[] {
  const { noun, deletion } = shown;
  return [queryResolver(shown), nodeResolver(shown), writeResolver(shown), deletionResolver({ noun, ...deletion })];
}
