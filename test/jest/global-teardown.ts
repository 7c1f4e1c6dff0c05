import { removeDirectories } from '../support/temporary-directory.ts';

export default function tearDown(): void {
  removeDirectories();
}
