import { crc32 } from 'node:zlib';

/** Change it with the form of the texts: those of the old form are then refused instead of misread. */
const version = 1;
const checksumLength = 8;

/** The longest that is encoded has a name of 255 characters, and is a third as long as this. */
const maxCharacters = 4_096;

/** The one spelling of each text: no other characters, no bits beyond the last byte (RFC 4648, section 3.5). */
const canonicalBase64url = /^(?:[\w-]{4})*(?:[\w-]{2}[AEIMQUYcgkosw048]|[\w-][AQgw])?$/;

/**
 * Used for one text after another, because allocating a buffer takes as long as the rest of the encoding. A text that
 * doesn't fit would be cut off; it then has more than `maxCharacters` in base64url, so `decodeOpaque` refuses it.
 */
const encoded = Buffer.allocUnsafeSlow(maxCharacters);

/** Encodes values of JSON as an opaque text for clients to send back: base64url of a checksum and the JSON. */
export function encodeOpaque(parts: readonly (string | number | null)[]): string {
  const body = JSON.stringify(parts);
  return encoded.toString('base64url', 0, encoded.write(checksum(body) + body));
}

/** Undefined unless its checksum is right, which proves no origin: validate the values. */
export function decodeOpaque(text: string): readonly unknown[] | undefined {
  // Decoding would skip invalid characters.
  if (text.length > maxCharacters || !canonicalBase64url.test(text)) return undefined;
  const decoded = Buffer.from(text, 'base64url').toString();
  const body = decoded.slice(checksumLength);
  if (!decoded.startsWith(checksum(body))) return undefined;
  try {
    const parts: unknown = JSON.parse(body);
    return Array.isArray(parts) ? parts : undefined;
  } catch {
    return undefined;
  }
}

/** Byte by byte: `toString(16)` of so large a number is five times as slow, and each edge has a cursor. */
function checksum(body: string): string {
  const sum = crc32(body, version);
  return hex(sum >>> 24) + hex((sum >>> 16) & 0xff) + hex((sum >>> 8) & 0xff) + hex(sum & 0xff);
}

const hexBytes = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

function hex(byte: number): string {
  return hexBytes[byte] as string;
}
