export { holdsEmbeddedPostgres, isComplete } from './cluster.ts';
export {
  type EmbeddedPostgres,
  embeddedPostgresAddress,
  EmbeddedPostgresInUse,
  NotOwnDatabase,
  startEmbeddedPostgres,
} from './embedded-postgres.ts';
