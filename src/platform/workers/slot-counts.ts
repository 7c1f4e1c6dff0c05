/** How much each client holds of what it may hold only so much of, in all workers together. */
export class SlotCounts {
  /** By what is held and the client: by worker. None is kept for what nobody holds. */
  readonly #held = new Map<string, Map<number, number>>();

  /** Takes one more for the worker; or returns how many the client holds, where that is the most. */
  take(worker: number, of: string, client: string, most: number): number | undefined {
    const name = `${of} ${client}`;
    const byWorker = this.#held.get(name) ?? new Map<number, number>();
    const held = [...byWorker.values()].reduce((sum, each) => sum + each, 0);
    if (held >= most) return held;
    this.#held.set(name, byWorker.set(worker, (byWorker.get(worker) ?? 0) + 1));
    return undefined;
  }

  release(worker: number, of: string, client: string): void {
    const name = `${of} ${client}`;
    const byWorker = this.#held.get(name);
    const held = byWorker?.get(worker) ?? 0;
    if (held > 1) byWorker?.set(worker, held - 1);
    else this.#forget(name, worker);
  }

  /** A worker has ended: nothing is held in it any more. */
  releaseAll(worker: number): void {
    for (const name of this.#held.keys()) this.#forget(name, worker);
  }

  #forget(name: string, worker: number): void {
    const byWorker = this.#held.get(name);
    byWorker?.delete(worker);
    if (byWorker?.size === 0) this.#held.delete(name);
  }
}
