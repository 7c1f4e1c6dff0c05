import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  execute,
  getOperationAST,
  getVariableValues,
  OperationTypeNode,
  parse,
  specifiedRules,
  validate,
  type GraphQLError,
} from 'graphql';

import { PreparedOperation, type Turns } from '../../../src/platform/executor/index.ts';
import { threadMillis } from '../../support/measurement.ts';
import { documentFrom } from './documents.ts';
import { createSampleSchema, type SampleContext } from './sample-schema.ts';

/**
 * Our execution beside that of graphql-js, for so many seconds of processor time. `PREPARED_SECONDS` lets it run for
 * longer, `PREPARED_SEED` repeats a run that failed.
 *
 * Errors of fields that run side by side are reported in no defined order; where everything is synchronous the order is
 * compared too.
 */
const seconds = Number(process.env['PREPARED_SECONDS'] ?? 6);
const firstSeed = Number(process.env['PREPARED_SEED'] ?? Date.now() % 2 ** 31);
const runsPerSeed = 100;
const maxBytes = 2 ** 26;

const schema = createSampleSchema();
const calm = ['value'] as const;
const synchronous = ['value', 'value', 'value', 'value', 'null', 'throws', 'error'] as const;
const later = ['value', 'later', 'value', 'later', 'value', 'later', 'null later', 'rejects'] as const;
const mixed = [...synchronous, 'value', 'later', 'later', 'later', ...later] as const;

/**
 * graphql-js (16.15) leaves rejections unhandled where an item of such a list fails while others are pending, which
 * ends the process.
 */
const listOfNonNull = /dogs|numbered|friends|all|things|collars/;

function contextFor(behaviours: readonly ReturnType<SampleContext['behaviourOf']>[], salt: number): SampleContext {
  return {
    repeats: salt % 8 === 0 ? 1_500 : 1,
    behaviourOf: (path) => {
      let hash = salt;
      for (let index = 0; index < path.length; index += 1) hash = (hash * 31 + path.charCodeAt(index)) >>> 0;
      return behaviours[(hash >>> 3) % behaviours.length]!;
    },
    log: [],
    total: 0,
  };
}

interface Outcome {
  readonly data: string;
  readonly errors: readonly GraphQLError[];
  readonly log: readonly string[];
}

const plain = ({ message, path, locations, extensions }: GraphQLError): string =>
  JSON.stringify({ message: masked(message), path, locations, extensions });

/** Where the schema itself is at fault, our messages differ: only the log has them. */
function masked(message: string): string {
  return /^(Expected|Int cannot)/.test(message) ? 'a fault of the schema' : message;
}

/** The path in the data that each error has made null. */
function nulledPaths({ data, errors }: Outcome): string[] {
  const paths = errors.map(({ path = [] }) => {
    let value: unknown = JSON.parse(data);
    const nulled: (string | number)[] = [];
    for (const key of path) {
      if (value === null || value === undefined) break;
      value = Object.getOwnPropertyDescriptor(value, key)?.value;
      nulled.push(key);
    }
    return JSON.stringify(nulled);
  });
  return [...new Set(paths)].toSorted();
}

it(
  'responds as graphql-js does, cold and warm, wherever it yields to others',
  async () => {
    let compared = 0;
    let failing = 0;
    const property = fc.asyncProperty(
      fc.integer(),
      fc.nat(),
      fc.constantFrom(calm, synchronous, later, mixed),
      async (documentSeed, salt, behaviours) => {
        const { text, variables } = documentFrom(documentSeed);
        // A condition that is null fails at once, too, and so does a property of a collar.
        const canFailAtOnce =
          behaviours === mixed || (behaviours === later && (variables['maybe'] === null || /collar/.test(text)));
        if (canFailAtOnce && listOfNonNull.test(text)) return;
        const document = parse(text);
        if (validate(schema, document, specifiedRules, { maxErrors: 1 }).length > 0) return;
        const operation = getOperationAST(document)!;
        const prepared = new PreparedOperation({ schema, document, operation });

        const reference = async (): Promise<Outcome & { variables: Record<string, unknown> }> => {
          let coerced: Record<string, unknown> = {};
          const contextValue = contextFor(behaviours, salt);
          const result = await execute({
            schema,
            document,
            variableValues: variables,
            contextValue,
            fieldResolver: (source, _args, _context, info) => {
              coerced = info.variableValues;
              return (source as Record<string, unknown>)[info.fieldName];
            },
          });
          return {
            data: JSON.stringify(result.data),
            errors: result.errors ?? [],
            log: contextValue.log,
            variables: coerced,
          };
        };
        const ours = async (turns?: Turns): Promise<Outcome> => {
          const context = contextFor(behaviours, salt);
          const coerced = coerceAll(text, variables);
          const { data, errors, omittedErrors } = await prepared.run({ context, variables: coerced, maxBytes, turns });
          expect(omittedErrors === 0 || errors.length === 100).toBe(true);
          return { data: Buffer.concat(data!.chunks).toString() + data!.text, errors, log: context.log };
        };
        /** Whether the data has no more bytes than that. */
        const fits = async (bytes: number, turns?: Turns): Promise<boolean> => {
          const context = contextFor(behaviours, salt);
          const coerced = coerceAll(text, variables);
          const { data } = await prepared.run({ context, variables: coerced, maxBytes: bytes, turns });
          return data !== undefined;
        };
        const everywhere = yieldingAfter(1);

        const expected = await reference();
        if (expected.data === undefined) return;
        const bytes = Buffer.byteLength(expected.data);
        // What an error makes null counts until then.
        if (operation.operation === OperationTypeNode.QUERY && expected.errors.length === 0)
          for (const turns of [undefined, everywhere])
            expect([await fits(bytes, turns), await fits(bytes - 1, turns)]).toEqual([true, false]);
        for (const turns of [undefined, undefined, everywhere, yieldingAfter(1 + (salt % 50))]) {
          const actual = await ours(turns);
          expect(actual.data).toBe(expected.data);
          expect(actual.log).toEqual(expected.log);
          if (expected.errors.length > 100) continue;
          expect(nulledPaths(actual)).toEqual(nulledPaths(expected));
          if ((behaviours === calm || behaviours === synchronous) && !/things|maybes/.test(text)) {
            expect(actual.errors.map(plain)).toEqual(expected.errors.map(plain));
          }
        }
        compared += 1;
        failing += expected.errors.length > 0 ? 1 : 0;
      },
    );
    const started = threadMillis();
    const worked = (): number => (threadMillis() - started) / 1_000;
    for (let seed = firstSeed; worked() < seconds; seed += 1) await fc.assert(property, { seed, numRuns: runsPerSeed });
    process.stdout.write(
      `${compared} operations compared in ${worked().toFixed(1)} s, ${failing} of them with errors\n`,
    );
    expect(compared).toBeGreaterThan(seconds * 5);
    expect(failing).toBeGreaterThan(compared / 10);
  },
  seconds * 60_000,
);

/** Yields each time that it is asked, after so many steps. */
function yieldingAfter(steps: number): Turns {
  return { steps, turn: () => Promise.resolve() };
}

function coerceAll(text: string, variables: Record<string, unknown>): Record<string, unknown> {
  const document = parse(text);
  const { variableDefinitions = [] } = getOperationAST(document)!;
  const { coerced } = getVariableValues(schema, variableDefinitions, variables);
  return coerced!;
}
