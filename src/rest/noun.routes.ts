import { idOf, nouns, type CollectionOf, type NodeTypeName, type NounName, type RowOf } from '../domain/nouns.ts';
import { maxBatchSize, type ListOptions, type Page, type PageArguments } from '../domain/page.ts';
import type { Services } from '../domain/services.ts';
import type { UpdateOptions } from '../domain/store.ts';
import type { Precondition } from '../domain/version.ts';
import type { Call, Handlers } from './handler.ts';
import type { Json } from './json.ts';
import type { OperationId } from './openapi/document.ts';
import type { components } from './openapi/types.ts';
import { collection, created, deleted, resource, type RestResponse } from './responses.ts';

type TypeNameOf<Name extends NounName> = (typeof nouns)[Name]['typeName'];

/** A body for each noun, of the document's schema of the same name. */
type Bodies = {
  readonly [Name in NounName]: {
    readonly representation: (row: RowOf<Name>) => Json<components['schemas'][TypeNameOf<Name> & NodeTypeName]>;
  };
};

const bodies: Bodies = nouns;

/** REST's form of a row. */
export function bodyOf<Name extends NounName>(noun: Name): (row: RowOf<Name>) => object {
  return bodies[noun].representation;
}

/** The operations that every noun has in the same form, by the beginning of their names. */
interface Operations<Name extends NounName> {
  readonly list: `list${Capitalize<CollectionOf<Name>>}`;
  readonly create: `create${TypeNameOf<Name>}`;
  readonly get: `get${TypeNameOf<Name>}`;
  readonly update: `update${TypeNameOf<Name>}`;
  readonly delete: `delete${TypeNameOf<Name>}`;
}
type Verb = keyof Operations<NounName>;
type Named<Name extends NounName, Verbs extends Verb> = Pick<Handlers, Operations<Name>[Verbs] & OperationId>;

/** What the handlers need of the service of a noun. */
interface NounService<Row> {
  list(request: PageArguments, options: ListOptions): Promise<Page<Row>>;
  get(id: string): Promise<Row>;
  create(input: object): Promise<Row>;
  update(id: string, changes: object, options: UpdateOptions): Promise<Row>;
  delete(id: string, precondition?: Precondition): Promise<void>;
}

type NounCall = Omit<Call<'listCategories'>, 'path' | 'body'> & {
  readonly path: Readonly<Record<string, string>>;
  readonly body: object;
};
type NounHandler = (call: NounCall, services: Services) => Promise<RestResponse>;

/** Handlers for the operations of a noun that are as every noun's: those with the verbs. */
export function nounRoutes<Name extends NounName, Verbs extends Verb>(
  noun: Name,
  verbs: readonly Verbs[],
): Named<Name, Verbs> {
  const { typeName, collection: name, maxBytes } = nouns[noun];
  const toBody = bodyOf(noun);
  const serviceOf = (services: Services) => services[name] as object as NounService<RowOf<Name>>;
  const handlers: Readonly<Record<Verb, NounHandler>> = {
    list: (call, services) =>
      collection(call, (request) => serviceOf(services).list(request, { maxSize: maxBatchSize }), toBody, maxBytes),
    create: async (call, services) => {
      const row = await serviceOf(services).create(call.body);
      return created(call, idOf(noun, row), toBody(row));
    },
    get: async ({ path }, services) => resource(toBody(await serviceOf(services).get(idIn(path)))),
    update: async ({ path, body, precondition }, services) =>
      resource(toBody(await serviceOf(services).update(idIn(path), body, { precondition }))),
    delete: async ({ path, precondition }, services) => {
      await serviceOf(services).delete(idIn(path), precondition);
      return deleted;
    },
  };
  const nameOf = (verb: Verb): string =>
    verb === 'list' ? `list${name.charAt(0).toUpperCase()}${name.slice(1)}` : `${verb}${typeName}`;
  return Object.fromEntries(verbs.map((verb) => [nameOf(verb), handlers[verb]])) as object as Named<Name, Verbs>;
}

/** The path of a resource has one parameter. */
function idIn(path: Readonly<Record<string, string>>): string {
  const [id] = Object.values(path);
  return id as string;
}
