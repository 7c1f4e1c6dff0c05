export type { Handlers } from './channel.ts';
export type { Child } from './children.ts';
export { serveHandedConnections } from './handed-connections.ts';
export { ParentConnection, ParentSilent } from './parent-connection.ts';
export { Primary } from './primary.ts';
export { countWorkers } from './worker-count.ts';
