import './process/node-version.ts';
import './settings/foreign-variables.ts';
import { childRole } from './process/first-signals.ts';

if (childRole === 'worker') {
  const { startWorker } = await import('./process/worker.ts');
  startWorker();
} else if (childRole === 'deliverer') {
  const { startDeliverer } = await import('./process/deliverer.ts');
  startDeliverer();
} else {
  const { startService } = await import('./process/start.ts');
  startService();
}
