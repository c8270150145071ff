/** redis.js: the differences between ioredis and node-redis: one server, Sentinel, Cluster. */
import { PrefixRefused } from "./errors.js";

const REPLIES = new Set(["ReplyError", "SimpleError", "BlobError", "ErrorReply", "MultiErrorReply"]);

/** Is this Redis's own error? If not, the connection broke, and what happened is unknown. */
export function isReply(error) {
    return REPLIES.has(error?.name) || REPLIES.has(error?.constructor?.name);
}

function refuse(prefix) {
    throw new PrefixRefused(
        `this Redis client puts "${prefix}" before every key, where no worker would look: take one without`);
}

/** Our own connection: its errors are reported by its calls. */
function quiet(client) {
    return client.on("error", () => {});
}

class Ioredis {
    constructor(client) {
        const options = client.options ?? {};
        const prefix = options.keyPrefix || options.redisOptions?.keyPrefix;
        if (prefix) refuse(prefix);
        this.client = client;
    }

    do(key, words) {
        return this.client.call(...words);
    }

    /** On a Cluster, ioredis forgets a node whose connection is closed, and asks any that is left, which may be the
     * node's replica; so the nodes are learnt again before. */
    async load(text) {
        const { client } = this;
        if (client.isCluster) await new Promise((learnt) => client.refreshSlotsCache(learnt));
        const nodes = client.isCluster ? client.nodes("master") : [client];
        await Promise.all(nodes.map((node) => node.call("SCRIPT", "LOAD", text)));
    }

    /** Returns another connection to the same Redis, for a blocking call, or null if none can be
     * made. */
    async another() {
        return new Ioredis(quiet(this.client.duplicate()));
    }

    close() {
        this.client.disconnect();
    }
}

class NodeRedis {
    constructor(client) {
        this.client = client;
    }

    do(key, words) {
        return this.client.sendCommand(words);
    }

    load(text) {
        return this.client.sendCommand(["SCRIPT", "LOAD", text]);
    }

    async another() {
        const client = quiet(this.client.duplicate());
        await client.connect();
        return new this.constructor(client);
    }

    close() {
        if (this.client.destroy) this.client.destroy();
        else this.client.disconnect(); // node-redis 4
    }
}

class NodeRedisSentinel extends NodeRedis {
    do(key, words) {
        return this.client.sendCommand(false, words);
    }

    load(text) {
        return this.client.sendCommand(false, ["SCRIPT", "LOAD", text]);
    }

    async another() {
        return null; // it cannot be duplicated
    }
}

class NodeRedisCluster extends NodeRedis {
    do(key, words) {
        return this.client.sendCommand(key, false, words);
    }

    async load(text) {
        await Promise.all(this.client.masters.map(async (master) => {
            const node = await this.client.nodeClient(master);
            await node.sendCommand(["SCRIPT", "LOAD", text]);
        }));
    }
}

export function adapt(client) {
    if (typeof client?.call === "function") return new Ioredis(client);
    if (typeof client?.nodeClient === "function") return new NodeRedisCluster(client);
    if (typeof client?.getMasterNode === "function" || typeof client?.acquire === "function") {
        return new NodeRedisSentinel(client);
    }
    if (typeof client?.sendCommand === "function") return new NodeRedis(client);
    throw new TypeError("a client of ioredis or node-redis is needed");
}
