/** A failure at the start on the server of DATABASE_URL. */
export class FailedDatabase extends Error {
  override readonly name = 'FailedDatabase';
  readonly url: string;

  constructor(url: string, cause: unknown) {
    super('The database of DATABASE_URL has failed.', { cause });
    this.url = url;
  }
}
