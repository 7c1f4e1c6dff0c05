// guide:begin words
/** A program that an error ends shows what the service says, instead of a stack trace. */
process.on('uncaughtException', ({ message }) => {
  console.error(message);
  process.exit(1);
});
// guide:end
