export type { Handlers } from './channel.ts';
export { type Child, type ChildOutput, Children } from './children.ts';
export { serveHandedConnections } from './handed-connections.ts';
export { ParentConnection, ParentSilent } from './parent-connection.ts';
export { Primary } from './primary.ts';
export { type ProcessMetrics, sumOf, SummedMetrics } from './summed-metrics.ts';
export { countWorkers } from './worker-count.ts';
