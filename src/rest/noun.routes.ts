import {
  idOf,
  nounNames,
  nouns,
  type CollectionOf,
  type NodeTypeName,
  type NounName,
  type RowOf,
} from '../domain/nouns.ts';
import { maxBatchSize, type ListOptions, type Page, type PageArguments } from '../domain/page.ts';
import type { Services } from '../domain/services.ts';
import type { UpdateOptions } from '../domain/store.ts';
import type { Precondition } from '../domain/version.ts';
import type { Call, Handlers, RestResponse } from './handler.ts';
import type { Json } from './json.ts';
import type { OperationId } from './openapi/document.ts';
import type { Schemas } from './openapi/types.ts';
import { collection, created, deleted, resource } from './responses.ts';

type TypeNameOf<Name extends NounName> = (typeof nouns)[Name]['typeName'];

/** A body for each noun, of the document's schema of the same name. */
type Bodies = {
  readonly [Name in NounName]: {
    readonly representation: (row: RowOf<Name>) => Json<Schemas[TypeNameOf<Name> & NodeTypeName]>;
  };
};

const bodies: Bodies = nouns;

/** REST's form of a row. */
export function bodyOf<Name extends NounName>(noun: Name): (row: RowOf<Name>) => object {
  return bodies[noun].representation;
}

/** What the handlers need of the service of a noun. */
interface NounService<Row> {
  list(request: PageArguments, options: ListOptions): Promise<Page<Row>>;
  get(id: string): Promise<Row>;
  create(input: object): Promise<Row>;
  update(id: string, changes: object, options: UpdateOptions): Promise<Row>;
  delete(id: string, precondition?: Precondition): Promise<void>;
}

type Verb = keyof NounService<never>;

/** The operations that every noun may have in the same form. */
type NounOperation<Name extends NounName, Of extends Verb> = Of extends 'list'
  ? `list${Capitalize<CollectionOf<Name>>}`
  : `${Of}${TypeNameOf<Name>}`;
export type NounOperationId = { [Name in NounName]: NounOperation<Name, Verb> }[NounName] & OperationId;

/** The services have a method for each of those operations that the document has. */
type ServicesOfNouns = {
  readonly [Name in NounName as CollectionOf<Name>]: {
    [Of in Verb as NounOperation<Name, Of> extends OperationId ? Of : never]: NounService<RowOf<Name>>[Of];
  };
};

type NounCall = Omit<Call<'listCategories'>, 'path' | 'body'> & {
  readonly path: Readonly<Record<string, string>>;
  readonly body: object;
};
type NounHandler = (call: NounCall, services: Services) => Promise<RestResponse>;

/** Handlers for the operations of all nouns that may be in the document. */
export const nounHandlers = Object.fromEntries(nounNames.flatMap(handlersOf)) as object as Pick<
  Handlers,
  NounOperationId
>;

function handlersOf(noun: NounName): [operationId: string, NounHandler][] {
  const { typeName, collection: name, maxBytes } = nouns[noun];
  const toBody = bodyOf(noun) as (row: object) => object;
  const serviceOf = (services: ServicesOfNouns) => services[name] as object as NounService<object>;
  return [
    [
      `list${name.charAt(0).toUpperCase()}${name.slice(1)}`,
      (call, services) =>
        collection(call, (request) => serviceOf(services).list(request, { maxSize: maxBatchSize }), toBody, maxBytes),
    ],
    [
      `create${typeName}`,
      async (call, services) => {
        const row = await serviceOf(services).create(call.body);
        return created(call, idOf(noun, row as never), toBody(row));
      },
    ],
    [`get${typeName}`, async ({ path }, services) => resource(toBody(await serviceOf(services).get(idIn(path))))],
    [
      `update${typeName}`,
      async ({ path, body, precondition }, services) =>
        resource(toBody(await serviceOf(services).update(idIn(path), body, { precondition }))),
    ],
    [
      `delete${typeName}`,
      async ({ path, precondition }, services) => {
        await serviceOf(services).delete(idIn(path), precondition);
        return deleted;
      },
    ],
  ];
}

/** The path of a resource has one parameter. */
function idIn(path: Readonly<Record<string, string>>): string {
  const [id] = Object.values(path);
  return id as string;
}
