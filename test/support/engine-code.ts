import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Node has it, but its types come with those of browsers. */
declare const WebAssembly: { compile(bytes: Uint8Array): Promise<object> };

const engineCode = Symbol.for('petstore.engine-code');
const held = globalThis as { [engineCode]?: object };

/**
 * Holds the embedded engine's code for as long as the process runs: V8 compiles and optimizes it once for all engines
 * that run while something refers to it, and anew for each engine otherwise, which takes longer than most suites.
 */
export async function holdEngineCode(): Promise<void> {
  const file = new URL('pglite.wasm', import.meta.resolve('@electric-sql/pglite'));
  held[engineCode] ??= await WebAssembly.compile(readFileSync(fileURLToPath(file)));
}
