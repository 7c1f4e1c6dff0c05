import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

import { sourceMaps } from './loader.ts';
import { useGlobals, type Globals } from './globals.ts';

const require = createRequire(import.meta.url);

let files = 0;

/** As long as the longest set-up takes on a slow machine: an image of a container. */
const loadMillis = 300_000;

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
  /** The hooks that the file has set up to close what it opens. */
  readonly #closers: (() => unknown)[] = [];

  unstable_shouldLoadAsEsm(): boolean {
    return true;
  }

  /** What a file opens while it is loaded has to be closed even where the rest of it fails: Jest then runs no hooks. */
  async unstable_importModule(path: string): Promise<void> {
    files += 1;
    const late = Promise.withResolvers<never>();
    const message = `Not loaded within ${loadMillis / 1000} s: ${path}`;
    const timer = setTimeout(() => late.reject(new Error(message)), loadMillis);
    try {
      await Promise.race([import(`${pathToFileURL(path).href}?${files}`), late.promise]);
    } catch (error) {
      for (const close of this.#closers) await close();
      throw error;
    } finally {
      clearTimeout(timer);
    }
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
    const afterAll: Globals['afterAll'] = (...hook) => {
      this.#closers.push(hook[0] as () => unknown);
      globals.afterAll(...hook);
    };
    useGlobals({ ...globals, afterAll });
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
