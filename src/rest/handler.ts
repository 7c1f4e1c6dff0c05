import type { Services } from '../domain/services.ts';
import type { Answer } from './answers.ts';
import type { OperationId } from './document.ts';
import type { operations } from './openapi-types.ts';

/** A request for an operation: its parameters and its body are as the document wants them. */
export interface Call<Id extends OperationId> {
  /** As they are in the address: a text that is no id names nothing. */
  readonly path: { readonly [Name in keyof PathOf<Id>]: string };
  readonly query: QueryOf<Id>;
  readonly body: BodyOf<Id>;
  /** Where the operation is, with the prefix; its path parameters not filled in. */
  readonly url: string;
  /** HEAD: the body will not be sent, so it needn't be made when it is costly. */
  readonly isHead: boolean;
  /** The `ETag`s that the resource must still have one of, as they came. */
  readonly ifMatch: string | undefined;
}

/** Does what an operation is for: one call of a service, and no rules. */
export type Handler<Id extends OperationId> = (call: Call<Id>, services: Services) => Answer | Promise<Answer>;

/** One for each operation of the document. */
export type Handlers = { readonly [Id in OperationId]: Handler<Id> };

/** The schema of the body, `undefined` where there is none. */
type BodyOf<Id extends OperationId> = operations[Id] extends {
  readonly requestBody: { readonly content: { readonly 'application/json': infer Body } };
}
  ? Body
  : undefined;

type QueryOf<Id extends OperationId> = operations[Id] extends {
  readonly parameters: { readonly query?: infer Query };
}
  ? NonNullable<Query>
  : object;

type PathOf<Id extends OperationId> = operations[Id] extends { readonly parameters: { readonly path: infer Path } }
  ? Path
  : object;
