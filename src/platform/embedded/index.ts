export { holdsEmbeddedPostgres, isComplete } from './cluster.ts';
export {
  type EmbeddedPostgres,
  embeddedPostgresAddress,
  EmbeddedPostgresInUse,
  startEmbeddedPostgres,
} from './embedded-postgres.ts';
