import { Migration } from '@mikro-orm/migrations';

/**
 * `İ` (U+0130) is folded to `i` on every server, as the built-in C.UTF-8 of PostgreSQL 17 does it: ICU made two
 * characters of it, the only ones in which the two differ but for the end of a word.
 *
 * The previous version runs on. The indexes of names are made anew where a name has that character and ICU folds it,
 * which locks the table for writing meanwhile; other entries stay as they are.
 */
export class FoldMigration extends Migration {
  override up(): void {
    this.addSql(replacedFold("replace($1, ''İ'', ''i'')"));
    this.addSql(reindexing);
  }

  override down(): void {
    this.addSql(replacedFold('$1'));
    this.addSql(reindexing);
  }
}

/** Collation by the same choice as when the function was made. */
function replacedFold(text: string): string {
  return `do $do$
  declare
    folding text := (
      select ' collate ' || quote_ident(collname) from pg_collation
      where collname in ('pg_c_utf8', 'und-x-icu') and collnamespace = 'pg_catalog'::regnamespace
      order by collname = 'pg_c_utf8' desc limit 1
    );
  begin
    execute 'create or replace function petstore_fold(text) returns text language sql immutable strict parallel safe as '
      || quote_literal('select replace(lower(' || '${text}' || coalesce(folding, '') || '), ''ς'', ''σ'') collate "C"');
  end
  $do$`;
}

/** Sessions have the function's text in their copy of an index: a new index, or another setting of it, ends that. */
const reindexing = `do $do$
  declare
    folded record;
    is_outdated boolean;
  begin
    if exists (select from pg_collation where collname = 'pg_c_utf8' and collnamespace = 'pg_catalog'::regnamespace) then
      return;
    end if;
    for folded in
      select indexrelid::regclass as name, indrelid::regclass as relation, pg_get_indexdef(indexrelid) as definition
      from pg_index
      where indrelid in ('pets'::regclass, 'categories'::regclass) and pg_get_indexdef(indexrelid) like '%petstore_fold%'
    loop
      execute format('select exists (select from %s where name like %L)', folded.relation, '%İ%') into is_outdated;
      if is_outdated then
        execute format('drop index %s', folded.name);
        execute folded.definition;
      else
        execute format('alter index %s set (fastupdate = on)', folded.name);
      end if;
    end loop;
  end
  $do$`;
