import { OperationTypeNode } from 'graphql';

import { recordStatement } from '../../src/platform/postgres/statement-span.ts';
import { traceOperation } from '../../src/graphql/pipeline/operation-span.ts';
import type { GraphQLResponse } from '../../src/graphql/pipeline/response.ts';
import { traceOf } from '../../src/http/observe/request-log.ts';
import { testCaller } from '../support/caller.ts';

// What spans cost where there is no SDK of OpenTelemetry: an operation with two statements, and its request. Prints the
// median of some rounds.

const calls = 200_000;
const rounds = 9;

const response = Promise.resolve({ status: 200, codes: [] } as unknown as GraphQLResponse);
const execute = (): Promise<GraphQLResponse> => response;
const operation = {
  caller: testCaller,
  label: 'query pets',
  kind: OperationTypeNode.QUERY,
  rootFields: ['pets'],
  headers: { host: '127.0.0.1', 'content-type': 'application/json' },
};

function traced(): void {
  traceOf('/graphql');
  void traceOperation(operation, execute);
  for (let statement = 0; statement < 2; statement += 1) recordStatement('select 1', [testCaller], 0, null);
}

function nanosPerCall(work: () => unknown): number {
  const startedAt = process.hrtime.bigint();
  for (let call = 0; call < calls; call += 1) work();
  return Number(process.hrtime.bigint() - startedAt) / calls;
}

const figures: number[] = [];
for (let round = 0; round < rounds; round += 1) figures.push(nanosPerCall(traced) - nanosPerCall(execute));
const [median = Number.NaN] = figures.toSorted((a, b) => a - b).slice(Math.floor(rounds / 2));
process.stdout.write(`${Math.round(median)} ns for each operation without an SDK\n`);
