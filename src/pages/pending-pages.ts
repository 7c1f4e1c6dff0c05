import { join } from 'node:path';

/** The file is there while a start builds the pages beside the service; see `.ci/build.mjs`. */
export const pendingPages = join(import.meta.dirname, '../../pages-pending');
