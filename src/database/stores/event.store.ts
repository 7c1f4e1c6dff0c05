import type { EntityProperty, MetadataStorage } from '@mikro-orm/core';

import { Category } from '../../domain/categories/category.entity.ts';
import type { EventPosition, EventSubject, EventType, StoreEvent } from '../../domain/events/event.ts';
import type { EventMoves, EventStore } from '../../domain/events/event.store.ts';
import type { Id } from '../../domain/id.ts';
import { InventoryItem } from '../../domain/inventory/inventory-item.entity.ts';
import { Order } from '../../domain/orders/order.entity.ts';
import { Pet } from '../../domain/pets/pet.entity.ts';
import type { Session } from './session.ts';
import { FixedStatement } from './statement.ts';

/** A row of the log as JSON, whose values are all texts. */
type Body = Readonly<Record<string, string | null>>;

interface LogRow {
  readonly isKnown: boolean;
  readonly last: EventPosition;
  /** Undefined when nothing follows the position that was asked for. */
  readonly event: StoreEvent | undefined;
}

/** The lateral join ends where `event_state` says, so that both are of one moment. */
const readText = `
  select state.position::text, state.salt::text,
    $1::bigint is null or (state.position, state.salt) = ($1::bigint, $2::bigint)
      or (state.dropped_position, state.dropped_salt) = ($1::bigint, $2::bigint)
      or exists (select from events where events.position = $1::bigint and events.salt = $2::bigint),
    found.*
  from event_state as state left join lateral (
    select position::text, salt::text, type, (extract(epoch from at) * 1000)::float8,
      (select jsonb_object_agg(key, value) from jsonb_each_text(body))::text
    from events where events.position > coalesce($1::bigint, 0) order by events.position limit $3::int
  ) as found on true`;

export function createEventStore(metadata: MetadataStorage): (session: Session) => EventStore {
  const decoders = {
    pet: decoderOf<Pet>(metadata, Pet),
    category: decoderOf<Category>(metadata, Category),
    order: decoderOf<Order>(metadata, Order),
    inventory: decoderOf<InventoryItem>(metadata, InventoryItem),
  };
  const subjectOf = (type: string, body: string | null): EventSubject | undefined => {
    if (body === null) return undefined;
    const noun = type.slice(0, type.indexOf('.')) as EventSubject['noun'];
    return { noun, row: decoders[noun](JSON.parse(body) as Body) } as EventSubject;
  };
  const read = new FixedStatement<LogRow>(readText, (fields) => {
    const [lastPosition, lastSalt, isKnown, position, salt, type, at, body] = fields as (string | null)[];
    return {
      isKnown: isTrue(isKnown),
      last: { position: lastPosition as Id, salt: lastSalt as Id },
      event:
        typeof type === 'string'
          ? {
              position: position as Id,
              salt: salt as Id,
              type: type as EventType,
              at: new Date(Number(at)),
              subject: subjectOf(type, body ?? null),
            }
          : undefined,
    };
  });
  return (session) => ({
    readAfter: async (after, limit) => {
      const rows = await session.run(read.with([after?.position ?? null, after?.salt ?? null, limit]));
      const [first] = rows;
      if (first === undefined) throw new Error('event_state has lost its row.');
      const { isKnown, last } = first;
      return { isKnown, last, events: rows.flatMap(({ event }) => event ?? []) };
    },
  });
}

export function createEventMoves(session: Session): EventMoves {
  const move = new FixedStatement(
    'select moved, last_mover, lag_seconds from petstore_move_events($1::text, $2::int)',
    ([moved, lastMover, lagSeconds]) => ({
      moved: Number(moved),
      lastMover: lastMover as string | null,
      lagSeconds: Number(lagSeconds),
    }),
    'write',
  );
  const maintain = new FixedStatement(
    'select petstore_maintain_events(make_interval(secs => $1::float8))',
    () => undefined,
    'write',
  );
  return {
    move: async (who, limit) => {
      const [result] = await session.run(move.with([who, limit]));
      if (result === undefined) throw new Error('petstore_move_events has returned nothing.');
      return result;
    },
    maintain: async (retentionSeconds) => {
      await session.run(maintain.with([retentionSeconds]));
    },
  };
}

function isTrue(value: unknown): boolean {
  return value === true || value === 't';
}

/** From the texts of a row to an entity's properties, by its metadata. */
function decoderOf<Row extends object>(metadata: MetadataStorage, entity: new () => Row): (body: Body) => Row {
  const properties = Object.values<EntityProperty>(metadata.get<Row>(entity).properties).map(
    ({ name, fieldNames, columnTypes }) => ({
      name,
      column: String(fieldNames[0]),
      parse: parserOf(columnTypes[0] ?? ''),
    }),
  );
  return (body) =>
    Object.fromEntries(
      properties.map(({ name, column, parse }) => {
        const text = body[column] ?? null;
        return [name, text === null ? null : parse(text)];
      }),
    ) as Row;
}

function parserOf(type: string): (text: string) => unknown {
  if (type.startsWith('timestamptz')) return (text) => new Date(text);
  if (type === 'int') return Number;
  if (type === 'boolean') return (text) => text === 'true';
  // An int64 stays text, which is exact.
  return (text) => text;
}
