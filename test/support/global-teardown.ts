import { removeDirectories } from './temporary-directory.ts';

export default function tearDown(): void {
  removeDirectories();
}
