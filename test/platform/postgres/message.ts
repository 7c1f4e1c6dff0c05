/** A message of PostgreSQL's protocol: its code, its length, which counts itself, and its content. */
export function message(code: string, content: Buffer | string = '', length?: number): Buffer {
  const bytes = typeof content === 'string' ? Buffer.from(content, 'latin1') : content;
  const size = Buffer.alloc(4);
  size.writeUInt32BE((length ?? bytes.length + 4) >>> 0);
  return Buffer.concat([Buffer.from(code), size, bytes]);
}
