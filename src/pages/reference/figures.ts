import { maxEventStreams, planLimits, planNames } from '../../domain/access/plan.ts';
import { storedMillis } from '../../domain/idempotency/idempotency.service.ts';
import { defaultPageSize, maxBatchSize, maxPageSize } from '../../domain/page.ts';
import { type BanRules, graceMillis } from '../../platform/quotas/index.ts';
import { maxDescriptionCharacters, maxListItems, maxNameCharacters } from '../../domain/rules.ts';
import { maxErrors } from '../../platform/executor/index.ts';
import { maxDocumentBytes } from '../../graphql/pipeline/admission.ts';
import { parentsPerRequest } from '../../graphql/nested-quota.ts';
import { maxAtomicFields } from '../../graphql/pipeline/atomic-execution.ts';
import { maxKeyedFields } from '../../graphql/safe-writes/keyed-writes.ts';
import { defaultTerms } from '../../graphql/streams/event-streams.ts';
import { maxResultBytes } from '../../graphql/streams/stream-selection.ts';
import {
  maxBodyBytes,
  maxHeaderBytes,
  maxJsonDepth,
  maxJsonValues,
  maxTargetBytes,
} from '../../platform/http/index.ts';
import { maxKeyLength } from '../../http/idempotency-key.ts';
import { defaultLimits } from '../../rest/collection-slots.ts';

/** The settings that clients meet as limits. */
export interface LimitSettings {
  readonly banRules: BanRules;
  readonly eventsRetentionSeconds: number;
  readonly graphql: {
    readonly maxDepth: number;
    readonly maxComplexity: number;
    readonly maxAliases: number;
    readonly maxFields: number;
    readonly maxTokens: number;
    readonly maxResponseBytes: number;
  };
}

type Figures = Readonly<Record<string, string>>;

/** Writes this service's limits in the places of `%name%`. Throws for a name that no figure has. */
export function withFigures(text: string, settings: LimitSettings): string {
  const figures = figuresOf(settings);
  return text.replaceAll(/%([a-z][A-Za-z]+)%/g, (_place, name: string) => {
    const figure = figures[name];
    if (figure === undefined) throw new Error(`There is no figure ${name}.`);
    return figure;
  });
}

function figuresOf({ banRules, eventsRetentionSeconds, graphql }: LimitSettings): Figures {
  const { banAfter, banForSeconds } = banRules;
  return {
    ...planFigures(),
    graceSeconds: count(graceMillis / 1000),
    banAfter: banAfter === 0 ? 'never' : `after more than ${count(banAfter)} of them within a minute`,
    banFor: duration(banForSeconds),
    bodyBytes: bytes(maxBodyBytes),
    targetBytes: bytes(maxTargetBytes),
    headerBytes: bytes(maxHeaderBytes),
    jsonValues: count(maxJsonValues),
    jsonDepth: count(maxJsonDepth),
    nameCharacters: count(maxNameCharacters),
    descriptionCharacters: count(maxDescriptionCharacters),
    searchCharacters: count(maxNameCharacters),
    listItems: count(maxListItems),
    idempotencyKeyCharacters: count(maxKeyLength),
    idempotencyHours: count(storedMillis / 3_600_000),
    defaultPageSize: count(defaultPageSize),
    maxPageSize: count(maxPageSize),
    maxBatchSize: count(maxBatchSize),
    collectionsPerKey: count(defaultLimits.perKey),
    documentBytes: bytes(maxDocumentBytes),
    maxTokens: count(graphql.maxTokens),
    maxFields: count(graphql.maxFields),
    maxDepth: count(graphql.maxDepth),
    maxAliases: count(graphql.maxAliases),
    maxComplexity: count(graphql.maxComplexity),
    maxResponseBytes: bytes(graphql.maxResponseBytes),
    maxErrors: count(maxErrors),
    atomicFields: count(maxAtomicFields),
    keyedFields: count(maxKeyedFields),
    parentsPerRequest: count(parentsPerRequest),
    keepAliveSeconds: count(defaultTerms.keepAliveMillis / 1000),
    unitMinutes: count(defaultTerms.millisOfUnit / 60_000),
    unitEvents: count(defaultTerms.eventsOfUnit),
    unitBytes: bytes(defaultTerms.bytesOfUnit),
    eventBytes: bytes(maxResultBytes),
    streamMinutes: count(defaultTerms.lifeMillis / 60_000),
    retention: duration(eventsRetentionSeconds),
  };
}

function planFigures(): Figures {
  return Object.fromEntries(
    planNames.flatMap((plan) => [
      [`${plan}Minute`, count(planLimits[plan]?.requestsPerMinute)],
      [`${plan}Day`, count(planLimits[plan]?.requestsPerDay)],
      [`${plan}Streams`, count(maxEventStreams[plan])],
    ]),
  );
}

function count(figure: number | undefined): string {
  return figure === undefined ? 'its own' : figure.toLocaleString('en');
}

function bytes(figure: number): string {
  const [unit, size] =
    figure % 2 ** 20 === 0 ? ['MiB', 2 ** 20] : figure % 2 ** 10 === 0 ? ['KiB', 2 ** 10] : ['bytes', 1];
  return `${count(figure / size)} ${unit}`;
}

function duration(seconds: number): string {
  const [unit, length] =
    seconds % 86_400 === 0
      ? ['day', 86_400]
      : seconds % 3_600 === 0
        ? ['hour', 3_600]
        : seconds % 60 === 0
          ? ['minute', 60]
          : ['second', 1];
  const figure = seconds / length;
  return `${count(figure)} ${unit}${figure === 1 ? '' : 's'}`;
}
