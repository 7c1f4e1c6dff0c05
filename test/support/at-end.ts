import { afterEach } from '@jest/globals';

const works: (() => unknown)[] = [];

afterEach(async () => {
  for (const work of works.splice(0).toReversed()) await work();
});

/** Does the work when the test ends, however it ends; what was registered last is done first. */
export function atEnd(work: () => unknown): void {
  works.push(work);
}
