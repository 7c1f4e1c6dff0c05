import type { Readable } from 'node:stream';

const lineFeed = 0x0a;

/**
 * Hands on the lines of a stream, whole ones only, as bytes; it isn't read on before they have been taken. A last line
 * that is cut off is lost.
 */
export async function forwardLines(
  source: Readable,
  take: (lines: Buffer) => Promise<void>,
  onCutLine: () => void,
): Promise<void> {
  const rest: Buffer[] = [];
  for await (const chunk of source as AsyncIterable<Buffer>) {
    const end = chunk.lastIndexOf(lineFeed) + 1;
    const lines = chunk.subarray(0, end);
    if (end > 0) await take(rest.length === 0 ? lines : Buffer.concat([...rest.splice(0), lines]));
    if (end < chunk.length) rest.push(chunk.subarray(end));
  }
  if (rest.length > 0) onCutLine();
}
