import { createSchema, printSortedSchema } from '../graphql/schema.ts';

process.stdout.write(printSortedSchema(createSchema()));
