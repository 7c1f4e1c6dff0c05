const anyRange = /^\s*([^\s;]+)\s*(;.*)?$/;

/** Whether an Accept header allows the media type: the range that is closest to it decides (RFC 9110, section 12.5.1). */
export function isAcceptable(accept: string | undefined, type: string): boolean {
  if (accept === undefined || accept === '*/*' || accept === type) return true;
  const ranges = [type, type.replace(/\/.*/, '/*'), '*/*'];
  let closest = ranges.length;
  let isWanted = accept.trim() === '';
  for (const text of accept.toLowerCase().split(',')) {
    const [, range = '', parameters = ''] = anyRange.exec(text) ?? [];
    const distance = ranges.indexOf(range);
    if (distance === -1 || distance > closest) continue;
    closest = distance;
    isWanted = !/;\s*q=0(?:\.0*)?\s*(?:;|$)/.test(parameters);
  }
  return isWanted;
}
