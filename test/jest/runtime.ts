import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

import { sourceMaps } from './loader.ts';
import { useGlobals, type Globals } from './globals.ts';

const require = createRequire(import.meta.url);

let files = 0;

/**
 * Jest's option `runtime`: test files are loaded by Node itself instead of by Jest.
 *
 * Jest loads every file and package anew for each test file, in a global scope of its own: half of the time of a run.
 * Here a worker loads `src` and the packages once. What lies in `test/` is loaded for each test file, so that a support
 * module can have hooks and state. There are no module mocks and no fake timers; Node's own `mock` has some.
 *
 * The methods are those that jest-runner and jest-circus 30.5 call.
 */
export default class NodeRuntime {
  unstable_shouldLoadAsEsm(): boolean {
    return true;
  }

  async unstable_importModule(path: string): Promise<void> {
    files += 1;
    await import(`${pathToFileURL(path).href}?${files}`);
  }

  /** Loads what collects and runs the tests of a file; its state is that of one file. */
  requireInternalModule(path: string): unknown {
    delete require.cache[path];
    Reflect.deleteProperty(globalThis, Symbol.for('EVENT_HANDLERS'));
    return require(path);
  }

  requireModule(path: string): unknown {
    return require(path);
  }

  setGlobalsForRuntime(globals: Globals): void {
    useGlobals(globals);
  }

  getSourceMaps(): ReadonlyMap<string, string> {
    return sourceMaps;
  }

  getAllCoverageInfoCopy(): undefined {
    return undefined;
  }

  enterTestCode(): void {}

  leaveTestCode(): void {}

  teardown(): void {}
}
