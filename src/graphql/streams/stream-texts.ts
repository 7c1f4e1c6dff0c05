import type { StoreEvent } from '../../domain/events/event.ts';
import { LruMap } from '../../platform/lru-map.ts';
import { describeFailure, HttpError } from '../../http/error-table.ts';
import type { OnRefusal } from '../../http/observe/bounds.ts';
import { SharedValues, type SharedValue } from './shared-values.ts';
import { endFor } from './stream-ends.ts';
import type { StreamSelection } from './stream-selection.ts';

/** The texts of all shared selections hold so many characters, or twice as many. */
const maxCharacters = 2 ** 21;

/** The results that streams send: one for each event and selection, however many streams share that. */
export class StreamTexts {
  readonly #texts = new LruMap<string, string>(maxCharacters, (key, text) => key.length + text.length);
  readonly #selections = new SharedValues<StreamSelection>();
  readonly #onRefusal: OnRefusal;
  readonly #onFailure: (error: unknown) => void;

  constructor(onRefusal: OnRefusal, onFailure: (error: unknown) => void) {
    this.#onRefusal = onRefusal;
    this.#onFailure = onFailure;
  }

  /** The selection, or an equal one that other streams have already, until it is released. */
  acquire(selection: StreamSelection): SharedValue<StreamSelection> {
    return this.#selections.acquire(selection.key, () => selection);
  }

  /** The result for an event as JSON text. One that fails is an error in place of this event's data. */
  textOf({ value: selection, users }: SharedValue<StreamSelection>, event: StoreEvent): string {
    if (users === 1) return this.#write(selection, event);
    const key = `${event.position} ${selection.key}`;
    const text = this.#texts.get(key) ?? this.#write(selection, event);
    this.#texts.set(key, text);
    return text;
  }

  #write(selection: StreamSelection, event: StoreEvent): string {
    try {
      return selection.textOf(event);
    } catch (error) {
      if (error instanceof HttpError && error.code === 'RESULT_TOO_LARGE') this.#onRefusal('result_bytes');
      else if (describeFailure(error).logLevel === 'error') this.#onFailure(error);
      return `${endFor(error).body.slice(0, -1)},"data":null}`;
    }
  }
}
