import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

/** Collects all that nothing refers to, so that what is left can be measured. */
export const collectGarbage = runInNewContext('gc') as () => void;
