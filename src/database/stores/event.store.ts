import type { MetadataStorage } from '@mikro-orm/core';

import {
  type ChangeRequest,
  type EventPosition,
  type EventSubject,
  type EventType,
  eventTypes,
  type StoreEvent,
} from '../../domain/events/event.ts';
import type { EventStore } from '../../domain/events/event.store.ts';
import type { EventMove, EventMoves } from '../../platform/feed/index.ts';
import type { Id } from '../../domain/id.ts';
import { nounNames, nouns } from '../../domain/nouns.ts';
import { type Session, statementOf } from '../../platform/postgres/index.ts';
import type { RemoteClock } from '../../platform/remote-clock.ts';
import { clockMillis } from './clock.ts';
import { EntityTable } from '../sql/entity-table.ts';
import { loggedNumber, millisOf } from '../sql/value-types.ts';

/** A row as JSON, its numbers as `loggedNumber` has them. */
type Body = Readonly<Record<string, unknown>>;

interface LogRow {
  readonly isKnown: boolean;
  readonly last: EventPosition;
  /** Undefined when nothing follows the position that was asked for. */
  readonly event: StoreEvent | undefined;
}

const knownTypes: ReadonlySet<string> = new Set(eventTypes);
const resync = { type: 'store.resync', subject: undefined } as const;

/** Within the years that both protocols can write. */
const shownAt = millisOf(`least(greatest(found.at, '0001-01-01 00:00Z'), '9999-12-31 23:59Z')`);

/** Of a body; a longer one is no longer JSON, and so can't be read: none of ours has so many. */
const maxCharacters = 65_536;

/** Of a key's id and a request's, as they are; plain SQL may set more. */
const maxRequestCharacters = 160;

/** One statement sees one moment: `event_state`, and the log up to it. */
const afterText = `
  select state.position || ':' || state.nonce, known.is_known,
    found.position || ':' || found.nonce, found.type, ${shownAt}, left(found.body::text, ${maxCharacters}),
    left(found.request, ${maxRequestCharacters})
  from event_state as state
  cross join lateral (
    select $1::bigint is null or (state.position, state.nonce) = ($1::bigint, $2::bigint)
      or (state.dropped_position, state.dropped_nonce) = ($1::bigint, $2::bigint)
      or exists (select from events where events.position = $1::bigint and events.nonce = $2::bigint) as is_known
  ) as known
  left join lateral (
    select * from events where known.is_known and events.position > coalesce($1::bigint, 0) order by events.position limit $3::int
  ) as found on true
  order by found.position`;

const lastText = `select position || ':' || nonce from event_state`;
const beginningText = `select dropped_position || ':' || dropped_nonce from event_state`;

export function createEventStore(metadata: MetadataStorage): (session: Session) => EventStore {
  const decoders = new Map<string, (body: Body) => object | undefined>(
    nounNames.map((noun) => [noun, decoderOf<object>(metadata, nouns[noun].entity)]),
  );
  const contentOf = (type: string, body: string | null): Pick<StoreEvent, 'type' | 'subject'> => {
    const noun = type.slice(0, type.indexOf('.'));
    const row = knownTypes.has(type) ? decoders.get(noun)?.(parseBody(body)) : undefined;
    // Of a newer version beside this one: anything may have changed.
    return row === undefined ? resync : { type: type as EventType, subject: { noun, row } as EventSubject };
  };
  const after = statementOf<LogRow>(afterText, 7, (fields) => {
    const [lastPosition, isKnown, position, type, at, body, request] = fields;
    return {
      isKnown: isKnown === 't',
      last: lastPosition as EventPosition,
      event:
        typeof type === 'string'
          ? {
              position: position as EventPosition,
              at: new Date(Number(at)),
              ...contentOf(type, body ?? null),
              request: requestIn(request ?? ''),
            }
          : undefined,
    };
  });
  const last = statementOf(lastText, 1, ([position]) => position as EventPosition);
  const beginning = statementOf(beginningText, 1, ([position]) => position as EventPosition);
  return (session) => ({
    last: async () => theOnly(await session.run(last, [])),
    beginning: async () => theOnly(await session.run(beginning, [])),
    readAfter: async (position, limit) => {
      const [number = null, nonce = null] = position?.split(':') ?? [];
      const rows = await session.run(after, [number, nonce, limit]);
      const { isKnown, last: lastPosition } = theOnly(rows.slice(0, 1));
      return { isKnown, last: lastPosition, events: rows.flatMap(({ event }) => event ?? []) };
    },
  });
}

/** As `requestOf` writes it. */
const writtenRequest = /^(?:(\d{1,19})|admin):([\w.-]{1,128})?$/;

/** Undefined for what plain SQL has set otherwise. */
function requestIn(text: string): ChangeRequest | undefined {
  const [isWritten, keyId, requestId] = writtenRequest.exec(text) ?? [];
  return isWritten === undefined ? undefined : { keyId: keyId as Id | undefined, requestId };
}

function theOnly<Row>([row]: readonly Row[]): Row {
  if (row === undefined) throw new Error('event_state has lost its row.');
  return row;
}

/** Each move also reads the clock: it is the statement that every process sends at least once a second. */
export function createEventMoves(session: Session, clock: RemoteClock): EventMoves {
  const move = statementOf<EventMove & { readonly millis: number }>(
    `select moved, is_leader, lag_seconds, ${clockMillis} from petstore_move_events($1::text, $2::int)`,
    4,
    ([moved, isLeader, lagSeconds, millis]) => ({
      moved: Number(moved),
      isLeader: isLeader === 't',
      lagSeconds: Number(lagSeconds),
      millis: Number(millis),
    }),
    'write',
  );
  const maintain = statementOf(
    'select petstore_maintain_events(make_interval(secs => $1::float8), make_interval(secs => $2::float8))',
    1,
    ([bytes]) => Number(bytes),
    'write',
  );
  return {
    move: async (sequencerId, limit) => {
      const askedAt = clock.start();
      const { millis, ...run } = theOnly(await session.run(move, [sequencerId, limit]));
      clock.record(millis, askedAt);
      return run;
    },
    maintain: async (retentionSeconds, passedSeconds) =>
      theOnly(await session.run(maintain, [retentionSeconds, passedSeconds ?? null])),
  };
}

/** Empty for what can't be read: a text that was cut, or is nested too deeply for V8. */
function parseBody(text: string | null): Body {
  // The context is in Node, not yet in TypeScript's library.
  const parse = JSON.parse as (text: string, reviver: Reviver) => unknown;
  try {
    return (parse(text ?? '{}', revive) ?? {}) as Body;
  } catch {
    return {};
  }
}

const revive: Reviver = (_key, value, { source = '' }) => (typeof value === 'number' ? loggedNumber(source) : value);

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;

/** Undefined when this version doesn't know one of the values. */
function decoderOf<Row extends object>(
  metadata: MetadataStorage,
  entity: new () => Row,
): (body: Body) => Row | undefined {
  const table = new EntityTable(metadata.get<Row>(entity));
  const properties = table.columns.map(({ property, type: { logged }, isKnown, isNullable }) => {
    return { name: property as keyof Row & string, column: table.columnName(property), logged, isKnown, isNullable };
  });
  return (body) => {
    const row = table.newRow();
    for (const { name, column, logged, isKnown, isNullable } of properties) {
      const given = body[column] ?? null;
      const value = given === null ? null : logged(given);
      const isReadable = value === null ? isNullable : value !== undefined && isKnown?.(value) !== false;
      if (!isReadable) return undefined;
      row[name] = value;
    }
    return row as Row;
  };
}
