import '../process/node-version.ts';
import '../settings/foreign-variables.ts';

import { runKeys } from './keys/run.ts';

process.exitCode = await runKeys(process.argv.slice(2));
