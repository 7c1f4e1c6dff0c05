import '../node-version.ts';
import '../foreign-variables.ts';

import { runKeys } from './keys/run.ts';

process.exitCode = await runKeys(process.argv.slice(2));
