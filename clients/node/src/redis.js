/** redis.js: the differences between ioredis and node-redis: one server, Sentinel, Cluster. */
"use strict";

const { errorMonitor } = require("node:events");

const { PrefixRefused } = require("./errors.js");

const REPLIES = new Set(["ReplyError", "SimpleError", "BlobError", "ErrorReply", "MultiErrorReply"]);

/** Is this Redis's own error? If not, the connection broke, and what happened is unknown. */
function isReply(error) {
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

const failures = new WeakMap(); // the last error that a client has told of by an event, and when

/** What ioredis and node-redis have in common. */
class Link {
    constructor(client) {
        this.client = client;
        if (failures.has(client) || !client.on) return;
        failures.set(client, { at: -Infinity });
        client.on(errorMonitor, (error) => failures.set(client, { error, at: performance.now() }));
    }

    /** Returns the last of these errors since then, if there is one: of a client that cannot connect, and keeps its
     * commands meanwhile. */
    failure(since) {
        const { error, at } = failures.get(this.client) ?? {};
        return at >= since ? error : undefined;
    }
}

class Ioredis extends Link {
    constructor(client) {
        super(client);
        const options = client.options ?? {};
        const prefix = options.keyPrefix || options.redisOptions?.keyPrefix;
        if (prefix) refuse(prefix);
    }

    /** Will it never connect again? */
    get closed() {
        return this.client.status === "end";
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
     * made. When it breaks its call fails: one that is sent again would wait for its whole time again. */
    another() {
        const { client } = this;
        return new Ioredis(quiet(client.isCluster ? client.duplicate([], { retryDelayOnFailover: 0 })
            : client.duplicate({ retryStrategy: null })));
    }

    close() {
        this.client.disconnect();
    }
}

class NodeRedis extends Link {
    get closed() {
        return this.client.isOpen === false;
    }

    do(key, words) {
        return this.client.sendCommand(words);
    }

    load(text) {
        return this.client.sendCommand(["SCRIPT", "LOAD", text]);
    }

    another() {
        const client = quiet(this.client.duplicate()), link = new this.constructor(client);
        const opened = client.connect();
        opened.catch(() => {}); // its calls tell
        return {
            do: async (key, words) => {
                await opened;
                return link.do(key, words);
            },
            failure: (since) => link.failure(since),
            close: () => link.close(),
        };
    }

    close() {
        if (this.closed) return;
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

    another() {
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

function adapt(client) {
    if (typeof client?.call === "function") return new Ioredis(client);
    if (typeof client?.nodeClient === "function") return new NodeRedisCluster(client);
    if (typeof client?.getMasterNode === "function" || typeof client?.acquire === "function") {
        return new NodeRedisSentinel(client);
    }
    if (typeof client?.sendCommand === "function") return new NodeRedis(client);
    throw new TypeError("a client of ioredis or node-redis is needed");
}

module.exports = { isReply, adapt };
