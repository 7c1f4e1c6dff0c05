import { nameRun } from '../support/temporary-directory.ts';

/** For suites of the built service, which make their own databases. */
export default function setUp(): void {
  nameRun();
}
