import { afterAll, afterEach, beforeEach } from '@jest/globals';

type Work = () => unknown;

const ofFile: Work[] = [];
let works = ofFile;

beforeEach(() => {
  works = [];
});
afterEach(async () => {
  const ofTest = works;
  works = ofFile;
  await finish(ofTest);
});
afterAll(() => finish(ofFile));

async function finish(list: Work[]): Promise<void> {
  for (const work of list.splice(0).toReversed()) await work();
}

/**
 * Does the work when the test ends, however it ends, or when its file does, where it is called outside of a test; what
 * was registered last is done first.
 */
export function atEnd(work: Work): void {
  works.push(work);
}
