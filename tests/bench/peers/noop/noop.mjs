// noop.mjs: a program of handlers that do nothing. $CLIENT: clients/node.
const { Handlers } = await import(`${process.env.CLIENT}/index.js`);

await new Handlers().on("null", async () => {}).run();
