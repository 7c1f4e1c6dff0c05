import '../process/node-version.ts';
import '../settings/foreign-variables.ts';

import { migrate } from '../database/start/migrate.ts';
import { seedStore } from '../database/start/seed.ts';
import { notify, onDatabase, parseCommandLine, readSettings, run } from './run.ts';

const usage = `usage: npm run seed -- --pets N [--categories N] [--orders N]

Adds made-up rows to the store, all or nothing: so many pets with their stock, 50 categories for them by default, and a
fifth as many orders. The service can stay up on a PostgreSQL server, but waits; an embedded database must not be in use.`;

const maxRows = 1_000_000_000;

function readCount(name: string, text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback;
  if (/^[1-9]\d{0,9}$/.test(text) && Number(text) <= maxRows) return Number(text);
  console.error(`--${name} is ${JSON.stringify(text)}, but must be a whole number from 1 to ${maxRows}.\n\n${usage}`);
  process.exit(2);
}

function readOptions(): { pets: number; categories: number; orders: number } {
  const values = parseCommandLine(usage, { pets: 'string', categories: 'string', orders: 'string' });
  if (values.pets === undefined) {
    console.error(usage);
    process.exit(2);
  }
  const pets = readCount('pets', values.pets, 0);
  return {
    pets,
    categories: readCount('categories', values.categories, 50),
    orders: readCount('orders', values.orders, Math.ceil(pets / 5)),
  };
}

function showProgress(): (share: number, next: string) => void {
  const { stderr } = process;
  let tenth = -1;
  return (share, next) => {
    const percent = String(Math.round(share * 100)).padStart(3);
    if (stderr.isTTY) {
      const bar = '█'.repeat(Math.round(share * 30)).padEnd(30, '░');
      stderr.write(`\r${bar} ${percent} % ${next.padEnd(40).slice(0, 40)}${share === 1 ? '\n' : ''}`);
    } else if (Math.floor(share * 10) > tenth) {
      tenth = Math.floor(share * 10);
      stderr.write(`${percent} % ${next}\n`);
    }
  };
}

const options = readOptions();
await run(async () => {
  await onDatabase(readSettings(), async (location) => {
    await migrate({ location, onWait: notify });
    await seedStore({ location, ...options, onProgress: showProgress() });
  });
  console.log(
    `Added ${options.pets} pets with their stock, ${options.categories} categories and ${options.orders} orders.`,
  );
});
