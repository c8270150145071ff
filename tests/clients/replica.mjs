/** replica.mjs MODULES URL: ioredis forgets a node of a Cluster whose connection is closed, and may ask a replica
 * in its place. The replica refuses writes by MOVED, but a script that it does not know by NOSCRIPT. MODULES has
 * ioredis in node_modules. */
import { once } from "node:events";
import { createRequire } from "node:module";

import { Laterd } from "../../clients/node/index.js";

const { PUSH_NOW } = createRequire(import.meta.url)("../../clients/node/src/script.js");
const [modules, url] = process.argv.slice(2);
const { Redis } = createRequire(`${modules}/index.js`)("ioredis");
const hosts = url.slice("cluster://".length).split(",").map((node) => ({ host: node.split(":")[0], port: node.split(":")[1] }));
// It learns where nodes are only if it is told to.
const client = new Redis.Cluster(hosts, { slotsRefreshInterval: 0 });

/** Leaves of all connections only that to the replica which copies this key. */
async function leaveReplicaOf(key) {
    const [, replica] = client.slots[await client.cluster("KEYSLOT", key)];
    for (const node of client.nodes()) {
        if (`${node.options.host}:${node.options.port}` === replica) continue;
        const ended = once(node, "end");
        node.disconnect();
        if (node.status !== "end") await ended;
    }
    const left = client.nodes().map((node) => `${node.options.host}:${node.options.port}`);
    if (left.join() !== replica) throw new Error(`connections left: ${left}; the replica is ${replica}`);
}

const laterd = new Laterd(client);

async function tries(name, id, prepare) {
    try {
        await laterd.push("a", null, { id: `before-${id}`, queue: "replica" }); // the queue's name is known now
        for (const node of client.nodes()) await node.call("SCRIPT", "FLUSH");
        await prepare();
        await leaveReplicaOf("later:{replica}:jobs");
        const { result } = await laterd.push("a", null, { id, queue: "replica" });
        console.log(result === "pushed" ? `ok ${name}` : `no ${name}\n# it is ${result}`);
    } catch (error) {
        console.log(`no ${name}\n# ${error.stack.replaceAll("\n", "\n# ")}`);
    }
}

await tries("a replica that knows no script is asked in place of a lost master", "unknown", () => {});
await tries("a replica that knows the scripts is asked in place of a lost master", "known",
    () => Promise.all(client.nodes().map((node) => node.call("SCRIPT", "LOAD", PUSH_NOW.text))));
client.disconnect();
