import '../node-version.ts';
import '../foreign-variables.ts';

import { runWebhooks } from './webhooks/run.ts';

process.exitCode = await runWebhooks(process.argv.slice(2));
