interface Opened {
  sql(text: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
}

/** Empties the tables whose changes are recorded, and those that refer to them. New rows have ids from 1 on. */
export async function emptyStore(opened: Opened): Promise<void> {
  const [row] = await opened.sql(`
    select string_agg(tgrelid::regclass::text, ', ') as tables from pg_trigger where tgname = 'events_truncate'`);
  await opened.sql(`truncate ${String(row?.['tables'])} restart identity cascade`);
}
