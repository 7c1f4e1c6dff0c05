import {
  getNullableType,
  type DocumentNode,
  type GraphQLError,
  type GraphQLScalarType,
  isScalarType,
  Kind,
  OperationTypeNode,
  type OperationDefinitionNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';

import { LruMap } from '../../platform/lru-map.ts';
import { type OperationSource, PreparedOperation, type Variables } from '../../platform/executor/index.ts';
import { type KnownOperation, operationKey, SentTexts, weightOf } from './documents.ts';
import { Measures, sizingArguments } from './measures.ts';

/** A number or a text that a document has in the place of a variable. */
interface Literal {
  readonly start: number;
  /** As it is written. */
  readonly raw: string;
}

/** A document whose numbers and texts are left out, and what they are. */
interface Skeleton {
  readonly text: string;
  readonly literals: readonly Literal[];
}

/** What isn't compared by what is written: escapes, block strings, and characters that no token may have. */
// oxlint-disable-next-line no-control-regex -- these
const uncommon = /[\0-\x08\x0b\x0c\x0e-\x1f\\\ud800-\udfff]|"""/;
/** Between them are only punctuators and white space; a number that isn't one is none of the tokens before the last. */
const token = /#[^\n\r]*|[A-Za-z_]\w*|"(?<text>[^"\n\r]*)"|(?<number>-?(?:0|[1-9]\d*)(?![\w.]))|(?<other>[-\d"])/g;

/** The same tokens in the same order for each text of one skeleton; undefined where that isn't certain. */
function skeletonOf(text: string): Skeleton | undefined {
  if (uncommon.test(text)) return undefined;
  const literals: Literal[] = [];
  let skeleton = '';
  let end = 0;
  for (const { 0: raw, index: start, groups } of text.matchAll(token)) {
    const { text: inQuotes, number, other } = groups ?? {};
    if (other !== undefined) return undefined;
    if (inQuotes === undefined && number === undefined) continue;
    literals.push({ start, raw });
    // No document has this character.
    skeleton += `${text.slice(end, start)}\0${number === undefined ? 't' : 'n'}`;
    end = start + raw.length;
  }
  return { text: skeleton + text.slice(end), literals };
}

/** An operation in which literals are variables of ours, by the places of its own literals. */
interface Template {
  readonly operation: KnownOperation;
  readonly places: readonly Place[];
}

interface Place {
  /** The number of the literal in the document. */
  readonly index: number;
  readonly type: GraphQLScalarType;
}

/** The values of an operation's literals, which were lifted out of its document. */
export interface LiftedLiterals {
  readonly operation: KnownOperation;
  /** Coerced. Their names are none that a client can write. */
  readonly values: Variables;
  /** Errors have the positions of the document of which the operation was prepared: gives them those of this one. */
  readonly relocate: (errors: readonly GraphQLError[]) => void;
}

/** Characters of skeletons, and of the documents of templates. */
const maxCharacters = 2 ** 17;

/**
 * Finds a known operation for a document that differs from another one only in numbers and texts.
 *
 * They are lifted out where they are a scalar by themselves, and don't decide what the operation costs. Two documents are
 * one operation if all else is written alike, and the same literals are equal in both, which is all that validation
 * compares of them. A literal that its type doesn't take is for validation: nothing is found.
 */
export class LiftedOperations {
  /** By skeleton, which literals are lifted. */
  readonly #masks = new LruMap<string, readonly boolean[]>(maxCharacters, (key, mask) => key.length + mask.length);
  readonly #templates = new LruMap<string, Template>(maxCharacters, (key, { operation }) => weightOf(key, operation));
  /** Skeletons, and templates. */
  readonly #sent = new SentTexts();

  find(text: string, operationName: string | undefined): LiftedLiterals | undefined {
    const skeleton = skeletonOf(text);
    if (skeleton === undefined || skeleton.literals.length === 0) return undefined;
    const key = operationKey(skeleton.text, operationName);
    const mask = this.#masks.get(key);
    const template = mask && this.#templates.get(templateKey(key, mask, skeleton.literals));
    return template && liftedBy(template, skeleton.literals);
  }

  /** A valid document was sent. Its skeleton is remembered the second time, the operation the next. */
  add(text: string, operationName: string | undefined, operation: KnownOperation): void {
    if (operation.prepared.kind === OperationTypeNode.SUBSCRIPTION) return;
    const skeleton = skeletonOf(text);
    if (skeleton === undefined || skeleton.literals.length === 0) return;
    const key = operationKey(skeleton.text, operationName);
    let mask = this.#masks.get(key);
    if (mask === undefined) {
      if (!this.#sent.wasSent(key)) return;
      const lifted = liftableIn(operation.source);
      mask = skeleton.literals.map(({ start }) => lifted.has(start));
      this.#masks.set(key, mask);
    }
    const full = templateKey(key, mask, skeleton.literals);
    if (mask.includes(true) && this.#sent.wasSent(full))
      this.#templates.set(full, templateOf(operation, skeleton.literals));
  }
}

/** The literals that aren't lifted, and which of the others are equal. */
function templateKey(key: string, mask: readonly boolean[], literals: readonly Literal[]): string {
  const first = new Map<string, number>();
  const parts = literals.map(({ raw }, index) => {
    if (mask[index] !== true) return raw;
    const equal = first.get(raw) ?? index;
    first.set(raw, equal);
    return `\0${equal}`;
  });
  return `${key}\0\0${parts.join('\0')}`;
}

/** The scalars of the literals that can be lifted, by where they begin. */
function liftableIn({ schema, document }: OperationSource): ReadonlyMap<number, GraphQLScalarType> {
  const types = new TypeInfo(schema);
  const found = new Map<number, GraphQLScalarType>();
  const note = ({ loc }: { readonly loc?: { readonly start: number } | undefined }): void => {
    const type = getNullableType(types.getInputType());
    if (loc !== undefined && isScalarType(type)) found.set(loc.start, type);
  };
  visit(
    document,
    visitWithTypeInfo(types, {
      VariableDefinition: () => false,
      Directive: () => false,
      Argument: ({ name }) => (sizingArguments.has(name.value) ? false : undefined),
      IntValue: note,
      StringValue: note,
    }),
  );
  return found;
}

function templateOf(known: KnownOperation, literals: readonly Literal[]): Template {
  const { schema, document, operation } = known.source;
  const types = liftableIn(known.source);
  const indexes = new Map(literals.map(({ start }, index) => [start, index]));
  const places = [...types].flatMap(([start, type]) => ({ index: indexes.get(start) as number, type }));
  const lift = (node: { readonly loc?: { readonly start: number } | undefined }) => {
    const { start = -1 } = node.loc ?? {};
    if (!types.has(start)) return undefined;
    return {
      kind: Kind.VARIABLE,
      loc: node.loc,
      name: { kind: Kind.NAME, value: nameOf(indexes.get(start) as number) },
    };
  };
  const lifted = visit(document, { IntValue: lift, StringValue: lift });
  const at = document.definitions.indexOf(operation);
  const source = { schema, document: lifted, operation: lifted.definitions[at] as OperationDefinitionNode };
  const prepared = new PreparedOperation(source);
  return { operation: { ...known, source, prepared, measures: new Measures(source) }, places };
}

function nameOf(index: number): string {
  return `:${index}`;
}

function liftedBy({ operation, places }: Template, literals: readonly Literal[]): LiftedLiterals | undefined {
  const values = Object.create(null) as Record<string, unknown>;
  for (const { index, type } of places) {
    const { raw } = literals[index] as Literal;
    const isText = raw.startsWith('"');
    const value = isText ? raw.slice(1, -1) : raw;
    try {
      const coerced = type.parseLiteral({ kind: isText ? Kind.STRING : Kind.INT, value }, undefined);
      if (coerced === undefined || coerced === null) return undefined;
      values[nameOf(index)] = coerced;
    } catch {
      return undefined;
    }
  }
  return { operation, values, relocate: (errors) => relocate(errors, operation.source.document, literals) };
}

/** Literals have no line breaks, so that only columns behind them on a line differ. */
function relocate(errors: readonly GraphQLError[], { loc }: DocumentNode, literals: readonly Literal[]): void {
  const prepared = skeletonOf(loc?.source.body ?? '')?.literals ?? [];
  const columnOf = (start: number, column: number): number =>
    prepared.reduce((shifted, { start: from, raw }, index) => {
      const isBefore = from < start && from > start - column;
      return isBefore ? shifted + (literals[index] as Literal).raw.length - raw.length : shifted;
    }, column);
  for (const error of errors) {
    const locations = error.locations?.map(({ line, column }, index) => {
      const start = error.nodes?.[index]?.loc?.start;
      return { line, column: start === undefined ? column : columnOf(start, column) };
    });
    Object.assign(error, { locations });
  }
}
