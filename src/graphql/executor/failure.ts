import { locatedError, type FieldNode, type GraphQLError } from 'graphql';

import { keysOf, type Path, type Run } from './run.ts';

export function writeNull(run: Run): string {
  run.length += 4;
  return 'null';
}

/** Handles a failure at a nullable or a non-null position. */
export function handleFailure(
  failure: unknown,
  isNullable: boolean,
  nodes: readonly FieldNode[],
  path: Path,
  run: Run,
): string {
  const locate = (): GraphQLError => locatedError(failure, nodes, keysOf(path));
  // Beyond the maximum, errors are only counted and need no path.
  if (!isNullable) throw run.hasAllErrors ? failure : locate();
  run.report(path, locate);
  return writeNull(run);
}
