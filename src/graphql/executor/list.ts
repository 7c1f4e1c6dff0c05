import type { FieldNode } from 'graphql';

import { handleFailure, type Path, type Run } from './run.ts';
import type { AtOnce } from './leaf.ts';
import { completed, joinAll, PendingText, type Complete, type Container, type Text } from './text.ts';

/** How the items of a list are written. */
export interface PreparedList {
  /** Of the field that the list belongs to. */
  readonly nodes: readonly FieldNode[];
  readonly complete: Complete;
  readonly isNullable: boolean;
  readonly atOnce: AtOnce | undefined;
}

/**
 * Writes the items of a list in order; promises are awaited together.
 *
 * While no item has needed a promise, it may yield to other requests between two of them; a list in a list only where
 * its items are written at once. Afterwards it doesn't: what its items load in one tick is one statement.
 */
export class ListWriter {
  readonly #list: PreparedList;
  readonly #items: readonly unknown[];
  readonly #path: Path;
  readonly #run: Run;
  /** The parts up to the last promise. */
  readonly #parts: Text[] = [];
  /** Since the last promise: marks of the pieces that are kept, and what follows. */
  #kept = '';
  #text = '';
  #next = 0;

  constructor(list: PreparedList, items: readonly unknown[], path: Path, run: Run) {
    this.#list = list;
    this.#items = items;
    this.#path = path;
    this.#run = run;
  }

  /** From the first item on, or after a pause from the next one on. */
  write(isBeginning = true): Text {
    const items = this.#items;
    const { atOnce } = this.#list;
    try {
      while (this.#next < items.length && !this.#run.isTooLarge) {
        const index = this.#next;
        const mayPause = this.#parts.length === 0;
        if (mayPause && this.#run.isDue(isBeginning && index === 0) && this.#mayYield()) return this.#writeLater();
        if (atOnce === undefined || !this.#append(atOnce, index)) this.#writeItem(index);
        this.#next = index + 1;
        if (this.#run.pieces.isLong(this.#text)) this.#keep();
      }
    } catch (error) {
      if (this.#parts.length > 0) return joinAll(this.#container(), { error });
      this.#run.discard(this.#path, [this.#kept, this.#text], this.#restLength());
      throw error;
    }
    this.#text += items.length === 0 ? '[]' : ']';
    return this.#parts.length === 0 ? this.#kept + this.#text : joinAll(this.#container());
  }

  /** A list in a list that yields is a promise for the outer one, which then yields no more. */
  #mayYield(): boolean {
    return this.#list.atOnce !== undefined || (this.#next > 0 && !isInList(this.#path));
  }

  #writeLater(): Text {
    const text = new PendingText();
    this.#run.pause(() => text.become(() => this.write(false)));
    return text;
  }

  /** False when the item can't be written at once. */
  #append({ quote, append }: AtOnce, index: number): boolean {
    const start = this.#text + separator(index) + quote;
    const appended = append(start, this.#items[index]);
    if (appended === undefined) return false;
    this.#run.write(appended.length - start.length + 2 * quote.length);
    this.#text = appended + quote;
    return true;
  }

  #writeItem(index: number): void {
    const text = this.#completed(this.#items[index], index);
    this.#text += separator(index);
    if (typeof text === 'string') this.#text += text;
    else {
      this.#parts.push(this.#kept + this.#text, text);
      this.#kept = '';
      this.#text = '';
    }
  }

  #keep(): void {
    this.#kept += this.#run.pieces.keep(this.#text);
    this.#text = '';
  }

  #completed(item: unknown, index: number): Text {
    const { complete, isNullable, nodes } = this.#list;
    const run = this.#run;
    const path: Path = { prev: this.#path, key: index, typename: undefined };
    return completed(
      item,
      (value) => complete(value, path, run),
      (failure) => handleFailure(failure, isNullable, nodes, path, run),
    );
  }

  #container(): Container {
    return {
      run: this.#run,
      path: this.#path,
      parts: [...this.#parts, this.#kept + this.#text],
      restLength: this.#restLength(),
    };
  }

  /** The length of commas and the bracket, which are counted but not written. */
  #restLength(): number {
    const left = this.#items.length - this.#next;
    return left === 0 ? 0 : left + 1;
  }
}

function isInList(path: Path): boolean {
  for (let place: Path | undefined = path; place !== undefined; place = place.prev) {
    if (typeof place.key === 'number') return true;
  }
  return false;
}

function separator(index: number): string {
  return index === 0 ? '[' : ',';
}
