import 'reflect-metadata';

import { OperationTypeNode } from 'graphql';

import { connectDatabase } from '../../src/database/database.ts';
import { recordStatement } from '../../src/platform/postgres/statement.ts';
import { observe, type OperationCall } from '../../src/graphql/pipeline/execution.ts';
import type { GraphQLResponse } from '../../src/graphql/pipeline/response.ts';
import { traceOf } from '../../src/http/observe/request-log.ts';
import { testCaller } from '../support/caller.ts';
import { median } from './report.ts';

// What each operation pays, as medians of some rounds: its spans where there is no SDK of OpenTelemetry (an operation
// with two statements, and its request), and stores for its caller. Nothing connects to a database.

const calls = 200_000;
const rounds = 9;

const response = Promise.resolve({ status: 200, codes: [] } as unknown as GraphQLResponse);
const execute = (): Promise<GraphQLResponse> => response;
const call = {
  operation: { prepared: { kind: OperationTypeNode.QUERY } },
  measured: { label: 'query pets', rootFieldNames: ['pets'] },
} as unknown as OperationCall;
const request = {
  operation: '',
  caller: testCaller,
  headers: { host: '127.0.0.1', 'content-type': 'application/json' },
};

function traced(): void {
  traceOf('/graphql');
  void observe(call, request, execute);
  for (let statement = 0; statement < 2; statement += 1) recordStatement('select 1', [testCaller], 0, null);
}

function nanosPerCall(work: () => unknown): number {
  const startedAt = process.hrtime.bigint();
  for (let made = 0; made < calls; made += 1) work();
  return Number(process.hrtime.bigint() - startedAt) / calls;
}

/** What a call of the first takes more than one of the second, in nanoseconds. */
function medianNanos(work: () => unknown, without: () => unknown): number {
  const figures: number[] = [];
  for (let round = 0; round < rounds; round += 1) figures.push(nanosPerCall(work) - nanosPerCall(without));
  return Math.round(median(figures));
}

const database = await connectDatabase({
  location: 'postgresql://nobody@127.0.0.1:1/none',
  poolSize: 1,
});
process.stdout.write(`${medianNanos(traced, execute)} ns for each operation's spans without an SDK\n`);
const forCaller = medianNanos(
  () => database.stores.for(testCaller).pets,
  () => testCaller,
);
process.stdout.write(`${forCaller} ns for stores.for(caller).pets\n`);
await database.close();
