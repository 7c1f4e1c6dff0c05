import { openDatabase } from '../../src/database/start/open.ts';

// Serves the embedded database in the directory given, until it is killed.
const dataDir = process.argv[2] ?? '';
await openDatabase({ url: undefined, dataDir, poolSize: 1, withDemoStore: false });
process.stdout.write('ready\n');
