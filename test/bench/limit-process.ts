import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import pg from 'pg';

// The limit: what this process model can do at all. One hand-written, prepared statement per request, which returns
// ready JSON text.

const node = `json_build_object('node', json_build_object(`;
const statements: Readonly<Record<string, string>> = {
  '/g1': `select json_build_object('data', json_build_object('pets', json_build_object('edges', coalesce(json_agg(
      ${node}'id', p.id::text, 'name', p.name, 'status', upper(p.status),
        'category', json_build_object('id', c.id::text, 'name', c.name, 'description', c.description))) order by p.id), '[]'))))::text as json
    from (select * from pets where id > $1::bigint order by id limit 20) p join categories c on c.id = p.category_id`,
  '/g2': `select json_build_object('data', json_build_object('pet', json_build_object('id', p.id::text, 'name', p.name,
      'status', upper(p.status), 'category', json_build_object('id', c.id::text, 'name', c.name),
      'inventory', json_build_object('quantity', i.quantity, 'status', upper(p.status)))))::text as json
    from pets p join categories c on c.id = p.category_id join inventory i on i.pet_id = p.id where p.id = $1::bigint`,
  '/g3': `select json_build_object('data', json_build_object('categories', json_build_object('edges', json_agg(
      ${node}'id', c.id::text, 'name', c.name, 'pets', json_build_object('edges', p.edges))) order by c.id))))::text as json
    from (select * from categories where id > $1::bigint order by id limit 5) c cross join lateral (
      select coalesce(json_agg(${node}'id', p.id::text, 'name', p.name, 'status', upper(p.status),
        'inventory', json_build_object('quantity', i.quantity, 'status', upper(p.status)))) order by p.id), '[]') as edges
      from (select * from pets where category_id = c.id order by id limit 10) p join inventory i on i.pet_id = p.id) p`,
  '/g4': `with pet as (insert into pets (name, category_id) values ($1, $2::bigint) returning *),
      stock as (insert into inventory (pet_id) select id from pet)
    select json_build_object('data', json_build_object('createPet', json_build_object('pet', json_build_object('id', pet.id::text,
      'name', pet.name, 'status', upper(pet.status), 'category', json_build_object('name', c.name)))))::text as json
    from pet join categories c on c.id = pet.category_id`,
  '/r1': `select coalesce(json_agg(json_build_object('id', id, 'name', name, 'categoryId', category_id, 'status', status)
      order by id), '[]')::text as json
    from (select * from pets where status = 'available' and id > $1::bigint order by id limit 20) p`,
  '/r2': `select json_build_object('id', id, 'name', name, 'categoryId', category_id, 'status', status)::text as json
    from pets where id = $1::bigint`,
  '/r3': `with pet as (insert into pets (name, category_id) values ($1, $2::bigint) returning *),
      stock as (insert into inventory (pet_id) select id from pet)
    select json_build_object('id', id, 'name', name, 'categoryId', category_id, 'status', status)::text as json from pet`,
  '/u1': `with item as (update inventory set quantity = $2::int where pet_id = $1::bigint returning *)
    select json_build_object('data', json_build_object('updateInventory', json_build_object('inventoryItem', json_build_object(
      'quantity', item.quantity, 'status', upper(p.status)))))::text as json from item join pets p on p.id = item.pet_id`,
};

const pool = new pg.Pool({ connectionString: process.argv[2], max: 10 });

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [path = '', query = ''] = (request.url ?? '').split('?');
  const values = request.method === 'POST' ? valuesOf(await read(request)) : [query];
  const { rows } = await pool.query<{ json: string }>({ name: path, text: statements[path] ?? '', values });
  response.writeHead(200, { 'content-type': 'application/json' }).end(rows[0]?.json);
}

function valuesOf(body: string): unknown[] {
  return Object.values(JSON.parse(body) as object);
}

async function read(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return text;
}

const server = createServer((request, response) => {
  respond(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
