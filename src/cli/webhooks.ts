import '../process/node-version.ts';
import '../settings/foreign-variables.ts';

import { runWebhooks } from './webhooks/run.ts';

process.exitCode = await runWebhooks(process.argv.slice(2));
