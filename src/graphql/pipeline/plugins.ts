import type { ApolloServerPlugin, GraphQLRequestListener } from '@apollo/server';
import { BREAK, GraphQLError, Kind, visit, type DocumentNode, type OperationDefinitionNode } from 'graphql';

import { describeFailure } from '../../http/error-table.ts';
import type { GraphQLContext } from '../context.ts';
import { causeOf, decisiveRefusal, isInternalError, markBadInput } from './errors.ts';
import { coerceVariables, literalViolation } from './input-errors.ts';
import { assertWithinLimits, type QueryLimits } from './limits.ts';
import { operationLabel, priceOf, rootFieldsOf } from './price.ts';

type Plugin = ApolloServerPlugin<GraphQLContext>;

/** A plugin with one listener for all requests. */
export function listening(listener: GraphQLRequestListener<GraphQLContext>): Plugin {
  const started = Promise.resolve(listener);
  return { requestDidStart: () => started };
}

/** A list of thousands can fail thousands of times for the same reason. */
const maxLoggedErrors = 10;

/**
 * Decides whether a valid operation is executed: the quota comes first, then bad variables, since they say more than a limit.
 *
 * What Apollo refuses before this has no price, and costs 1.
 */
export function admission(limits: QueryLimits): Plugin {
  // Operations that are within the limits, and cost the same, whatever their variables are. Wrong variables are the executor's to find.
  const admitted = new WeakMap<OperationDefinitionNode, { readonly label: string; readonly price: number }>();
  return listening({
    didResolveOperation: async ({
      schema,
      document,
      operation,
      request: { variables: given = {} },
      contextValue: { request, meter },
    }) => {
      if (operation === undefined) return;
      const known = admitted.get(operation);
      if (known !== undefined) {
        request.operation = known.label;
        await meter.take(known.price);
        return;
      }
      if (schema.getRootType(operation.operation) === undefined) throw noSuchRoot(operation);
      const fields = rootFieldsOf({ document, operation, variables: given });
      const label = operationLabel(operation, fields);
      const price = priceOf(fields);
      request.operation = label;
      await meter.take(price);
      const variables = coerceVariables({ schema, document, operation }, given);
      assertWithinLimits({ schema, document, operation, variables }, limits);
      if (!isSizedByVariables(document)) admitted.set(operation, { label, price });
    },
  });
}

/** Subscriptions: valid as a document, and nothing to execute. It has no price, and costs 1. */
function noSuchRoot({ operation }: OperationDefinitionNode): GraphQLError {
  return new GraphQLError(`This schema has no ${operation}s.`, {
    extensions: { code: 'GRAPHQL_VALIDATION_FAILED', http: { status: 400 } },
  });
}

/** True when a variable says how long a page is, or whether a part is left out. */
function isSizedByVariables(document: DocumentNode): boolean {
  let isSized = false;
  visit(document, {
    Argument: ({ name, value }) => {
      if (value.kind !== Kind.VARIABLE || !['first', 'last', 'if'].includes(name.value)) return undefined;
      isSized = true;
      return BREAK;
    },
  });
  return isSized;
}

/** Logs what nobody has foreseen, whole, and gives the HTTP response what only the whole of the errors can tell. */
export const failures: Plugin = {
  ...listening({
    didEncounterErrors: ({ errors, document, contextValue: { log } }) => {
      for (const error of document === undefined ? [] : errors.filter(({ path }) => path === undefined)) {
        const violation = document && literalViolation(error, document);
        if (violation !== undefined) markBadInput(error, violation);
      }
      const internal = errors.filter(isInternalError);
      for (const error of internal.slice(0, maxLoggedErrors)) {
        log.error({ err: causeOf(error), path: error.path, count: internal.length }, 'internal error');
      }
      return Promise.resolve();
    },
    willSendResponse: ({ errors = [], response: { body, http }, contextValue: { log } }) => {
      const wasExecuted = body.kind === 'incremental' || body.singleResult.data !== undefined;
      const refusal = decisiveRefusal(errors, wasExecuted);
      if (refusal !== undefined) {
        const { status, headers, logLevel, restCode } = describeFailure(refusal);
        if (logLevel !== 'info') log[logLevel]({ err: refusal }, restCode);
        http.status = status;
        for (const [name, value] of Object.entries(headers)) http.headers.set(name, value);
      }
      return Promise.resolve();
    },
  }),
  unexpectedErrorProcessingRequest: ({ requestContext, error }) => {
    requestContext.contextValue.log.error({ err: error }, 'internal error');
    return Promise.resolve();
  },
};
