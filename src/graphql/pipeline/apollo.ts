import { ApolloServer, type ApolloServerPlugin, type GraphQLRequestListener } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import type { FastifyBaseLogger } from 'fastify';
import {
  type ASTNode,
  type GraphQLError,
  Kind,
  NoSchemaIntrospectionCustomRule,
  type DocumentNode,
  type GraphQLSchema,
} from 'graphql';

import type { OnRefusal } from '../../http/observe/bounds.ts';
import { type OperationSource, PreparedOperation } from '../../platform/executor/index.ts';
import { isAtomic } from '../safe-writes/atomic-writes.ts';
import { checkDocument, type CheckedDocument } from './checked-document.ts';
import { isOverTokenLimit, markBadInput, unresolvedOperation } from './errors.ts';
import { namesIn, type HiddenSchema } from './hidden-schema.ts';
import { DeclaredVariables, literalViolation } from './variables.ts';
import { deprecatedIn } from '../deprecations.ts';
import type { KnownOperation } from './documents.ts';
import { Measures } from './measures.ts';
import { OwnFieldsOfPastObjects } from './own-fields-rule.ts';

interface DocumentLimits {
  readonly maxTokens: number;
  /** Fields that are selected, with fragments expanded. */
  readonly maxFields: number;
}

export interface ApolloOptions {
  readonly schema: GraphQLSchema;
  /** The schema, if it isn't public. */
  readonly hidden: HiddenSchema | undefined;
  readonly limits: DocumentLimits;
  readonly log: FastifyBaseLogger;
  readonly onRefusal: OnRefusal;
}

export interface ApolloRefusal {
  readonly errors: readonly [GraphQLError, ...GraphQLError[]];
}

/** Apollo gives its plugins a copy of this, but the same `state`. */
interface ApolloContext {
  readonly state: {
    valid?: KnownOperation;
    errors?: readonly GraphQLError[];
    checked?: CheckedDocument;
  };
}

/** Security scanners report directive overloading when ten unknown directives return ten errors. */
const maxValidationErrors = 5;

/** Passes validation, and has nothing to execute. */
const emptyDocument: DocumentNode = { kind: Kind.DOCUMENT, definitions: [] };

/** Apollo Server parses and validates. The caller executes; `request.ts` has the rules of GraphQL over HTTP. */
export class ApolloValidator {
  readonly #apollo: ApolloServer<ApolloContext>;

  constructor(options: ApolloOptions) {
    this.#apollo = createApollo(options);
  }

  start(): Promise<void> {
    return this.#apollo.start();
  }

  stop(): Promise<void> {
    return this.#apollo.stop();
  }

  async validate(query: string, operationName: string | undefined): Promise<KnownOperation | ApolloRefusal> {
    const contextValue: ApolloContext = { state: {} };
    const request = operationName === undefined ? { query } : { query, operationName };
    await this.#apollo.executeOperation(request, { contextValue });
    const { valid, errors: [first, ...others] = [] } = contextValue.state;
    if (valid !== undefined) return valid;
    if (first === undefined) throw new TypeError('Apollo has neither an operation nor an error.');
    return { errors: [first, ...others] };
  }
}

function createApollo(options: ApolloOptions): ApolloServer<ApolloContext> {
  const { schema, hidden, limits, log } = options;
  return new ApolloServer<ApolloContext>({
    schema,
    // Apollo's own message would name Apollo's options.
    introspection: true,
    validationRules: [OwnFieldsOfPastObjects, ...(hidden === undefined ? [] : [NoSchemaIntrospectionCustomRule])],
    parseOptions: { maxLexicalTokens: limits.maxTokens },
    validationOptions: { maxErrors: maxValidationErrors },
    includeStacktraceInErrorResponses: false,
    // Operations are cached instead of documents.
    documentStore: null,
    persistedQueries: false,
    stopOnTerminationSignals: false,
    logger: log,
    plugins: [
      // Otherwise Apollo's environment variables could enable these.
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginInlineTraceDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      ApolloServerPluginSchemaReportingDisabled(),
      ApolloServerPluginUsageReportingDisabled(),
      preparing(options),
    ],
  });
}

/** Refuses documents that are too large to validate, and prepares valid ones instead of executing them. */
function preparing({ schema, hidden, limits, log, onRefusal }: ApolloOptions): ApolloServerPlugin<ApolloContext> {
  const listener: GraphQLRequestListener<ApolloContext> = {
    validationDidStart: async (request) => {
      const { document, contextValue } = request;
      const checked = checkDocument(document, limits.maxFields, onRefusal);
      const { comparable, refusal } = checked;
      contextValue.state.checked = checked;
      if (comparable === document) return undefined;
      // Apollo has no way to refuse at this point, so an empty document is validated, and the refusal comes next.
      Object.assign(request, { document: comparable ?? emptyDocument });
      return async () => {
        Object.assign(request, { document: refusal === undefined ? document : emptyDocument });
      };
    },
    didResolveOperation: async (resolved) => {
      const { document, operation, request, contextValue } = resolved;
      const { state } = contextValue;
      const { fieldCount = 0, refusal } = state.checked ?? {};
      if (refusal !== undefined) throw refusal;
      if (!operation) throw unresolvedOperation(request.operationName);
      const source: OperationSource = { schema, document, operation };
      state.valid = {
        source,
        prepared: new PreparedOperation(source),
        measures: new Measures(source),
        variables: new DeclaredVariables(source),
        isAtomic: isAtomic(source),
        deprecated: deprecatedIn(source),
        fieldCount,
        bytes: withoutTokens(document),
      };
    },
    responseForOperation: ({ response: { http } }) =>
      Promise.resolve({ http, body: { kind: 'single', singleResult: { data: null } } }),
    didEncounterErrors: async ({ errors, document, contextValue }) => {
      contextValue.state.errors = errors;
      if (errors.some(isOverTokenLimit)) onRefusal('tokens');
      const isKnown = namesIn(document);
      for (const error of document === undefined ? [] : errors) {
        if (hidden !== undefined) error.message = hidden.conceal(error.message, isKnown);
        const violation = document && literalViolation(error, document);
        if (violation !== undefined) markBadInput(error, violation);
      }
    },
  };
  return {
    requestDidStart: () => Promise.resolve(listener),
    unexpectedErrorProcessingRequest: async ({ error }) => log.error({ err: error }, 'internal error'),
  };
}

/** The average size of a node, with everything that is prepared of it. */
const bytesOfNode = 200;

/** Drops the tokens that graphql-js (16.15) chains to it, which nothing uses. Returns an estimate of its memory. */
function withoutTokens(document: DocumentNode): number {
  let nodes = 0;
  const strip = (node: ASTNode): void => {
    nodes += 1;
    // Positions stay, for the errors of fields.
    if (node.loc !== undefined) Object.assign(node.loc, { startToken: undefined, endToken: undefined });
    for (const value of Object.values(node) as unknown[]) {
      if (Array.isArray(value)) for (const each of value) strip(each as ASTNode);
      else if (typeof value === 'object' && value !== null && 'kind' in value) strip(value as ASTNode);
    }
  };
  strip(document);
  return nodes * bytesOfNode + 2 * (document.loc?.end ?? 0);
}
