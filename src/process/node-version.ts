/** The first Node that has all that the program and MikroORM need; `engines` in package.json says the same. */
const needed = [22, 17] as const;

// Imported before everything else: on an older Node the program would start, and fail with the first request.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < needed[0] || (major === needed[0] && minor < needed[1])) {
  process.stderr.write(
    `petstore-gateway can't start: this is Node ${process.versions.node}, but Node ${needed.join('.')} or newer is needed.\n`,
  );
  process.exit(1);
}
