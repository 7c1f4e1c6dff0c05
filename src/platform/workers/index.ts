export type { Handlers } from './channel.ts';
export { Primary, type WorkerHandle } from './primary.ts';
export { PrimaryConnection, PrimarySilent } from './primary-connection.ts';
export { countWorkers } from './worker-count.ts';
