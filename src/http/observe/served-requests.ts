import type { IncomingHttpHeaders } from 'node:http';

import type { FastifyRequest } from 'fastify';

import { redactSecrets } from '../../domain/access/redaction.ts';
import type { Id } from '../../domain/id.ts';
import { adminId } from '../../domain/access/principal.ts';
import type { Entry, RequestRecorder, ServedRequest } from '../../keys/request-recorder.ts';
import { type AddressLogging, loggedAddress } from '../client.ts';
import { errorTable, type ErrorRow, graphqlCodes } from '../error-codes.ts';

/** A response that has been sent, or the head of one that goes on as a stream. */
interface ServedResponse {
  readonly status: number;
  readonly code: string | undefined;
  readonly operation: string;
  readonly millis: number;
}

/** Called for each response to a request of the API. Must not throw. */
export type OnServed = (request: FastifyRequest, response: ServedResponse) => void;

const readMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
const maxCharacters = 100;

const statuses: ReadonlyMap<string, number> = new Map(graphqlCodes.map(({ code, status }) => [code, status]));
const rows: readonly ErrorRow[] = Object.values(errorTable);
const graphqlCodeOf: ReadonlyMap<string, string> = new Map(rows.map((row) => [row.restCode, row.graphqlCode]));

/** Records the requests that have a key; ADMIN_API_KEY is none. */
export function servedRequests(recorder: Pick<RequestRecorder, 'record'>, addresses: AddressLogging): OnServed {
  return (request, response) => {
    const { principal, charge, route, method } = request;
    if (principal === undefined || principal.id === adminId) return;
    const keyId = principal.id as Id;
    const isGraphQL = route.config.errorFormat === 'graphql';
    const { status, code } = isGraphQL ? graphqlOutcome(request, response) : response;
    const refusal = charge?.refusal;
    // A path without that method changes nothing.
    const changes = isGraphQL
      ? response.operation.startsWith('mutation ')
      : route.config.operationId !== undefined && !readMethods.has(method);
    const served: ServedRequest = {
      keyId,
      status,
      cost: charge?.cost ?? 0,
      refusedBy: refusal && (refusal.quota?.window ?? 'ban'),
      isWrite: changes && refusal === undefined,
      deprecated: request.deprecated ?? route.config.deprecated ?? [],
    };
    recorder.record(served, () => ({
      ...entryOf(request, { ...response, status, code }, keyId, isGraphQL),
      address: loggedAddress(request.ip, addresses) ?? null,
    }));
  };
}

/** The status and the code of the gravest of its errors. */
function graphqlOutcome({ graphql }: FastifyRequest, { status, code }: ServedResponse) {
  const codes = graphql?.codes ?? [];
  if (codes.length === 0) return { status, code: code && (graphqlCodeOf.get(code) ?? code) };
  const statusOf = (each: string): number => statuses.get(each) ?? status;
  const gravest = codes.reduce((one, other) => (statusOf(other) > statusOf(one) ? other : one));
  return { status: statusOf(gravest), code: gravest };
}

function entryOf(
  { id, graphql, charge, headers }: FastifyRequest,
  { status, code, operation, millis }: ServedResponse,
  keyId: Id,
  isGraphQL: boolean,
): Omit<Entry, 'address'> {
  const refusal = charge?.refusal;
  const name = graphql?.name ?? graphql?.fields?.join(' ');
  return {
    keyId,
    requestId: id,
    protocol: isGraphQL ? 'graphql' : 'rest',
    operation: shown(isGraphQL ? (name ?? operation) : operation) ?? operation,
    status,
    code: code ?? null,
    refusedBy: refusal?.quota?.window ?? null,
    quotaLimit: refusal?.quota?.limit ?? null,
    retryAfter: refusal?.retryAfterSeconds ?? null,
    cost: charge?.cost ?? 0,
    durationMillis: Math.round(millis),
    hasIdempotencyKey: headers['idempotency-key'] !== undefined,
    ...clientOf(headers),
  };
}

/** As Apollo's and the GraphQL Foundation's clients tell it, or else as HTTP has it. */
function clientOf(headers: IncomingHttpHeaders): Pick<Entry, 'clientName' | 'clientVersion' | 'userAgent'> {
  const header = (name: string): string | null => shown(headers[name]) ?? null;
  const clientName = header('graphql-client-name') ?? header('apollographql-client-name');
  const clientVersion = header('graphql-client-version') ?? header('apollographql-client-version');
  return { clientName, clientVersion, userAgent: clientName === null ? header('user-agent') : null };
}

/** Shortened, without keys and control characters; undefined for no text. */
function shown(text: string | string[] | undefined): string | undefined {
  if (typeof text !== 'string' || text === '') return undefined;
  return redactSecrets(text.replaceAll(/\p{Cc}/gu, ''))
    .slice(0, maxCharacters)
    .toWellFormed();
}
