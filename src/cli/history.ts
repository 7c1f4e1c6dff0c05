import { describeChanges } from '../domain/access/api-key-change.entity.ts';
import { type Id, parseId } from '../domain/id.ts';
import type { Page, PageArguments } from '../domain/page.ts';
import { allOf, onlyOf, type Output } from './command-line.ts';
import { shown, table } from './text-table.ts';

type Change = Parameters<typeof describeChanges>[0] & {
  readonly at: Date;
  readonly by: string;
  readonly action: string;
};

/** A service of rows that have a history. */
interface Recorded {
  readonly history: { listPerParent(ids: readonly Id[], page: PageArguments): Promise<Page<Change>[]> };
  get(id: string): Promise<unknown>;
}

export async function historyOf(service: Recorded, id: string): Promise<Output> {
  const key = parseId(id);
  const found =
    key === undefined ? [] : await allOf(async (page) => onlyOf(await service.history.listPerParent([key], page)));
  // A deleted row still has a history.
  if (found.length === 0) await service.get(id);
  const rows = found.map((change) => [shown(change.at), change.by, change.action, describeChanges(change).join('; ')]);
  return {
    text: table(['AT', 'BY', 'ACTION', 'CHANGES'], rows),
    json: found.map(({ at, by, action, changes }) => ({ at, by, action, changes })),
  };
}
