/**
 * script.js: the scripts that a client calls: copies of those that laterd installs.
 * clients/carry.sh makes them when the source tree or the package is built.
 */
"use strict";

const { createHash } = require("node:crypto");

const TEXTS = require("../scripts/scripts.json"); // by require(), so that bundlers take them along

// Keys that differ from call to call, as they are called in Redis.
const OWN = {
    call: (own) => `call:${own}`,
    held: (own) => `reserved:${own}`,
    flow: (own) => `flow:${own}`,
    unknown: (own) => `flow:${own}:unknown`,
};

class Script {
    #stem = "";
    #words = [];
    #own;

    constructor(name) {
        this.text = TEXTS[name];
        this.sha = createHash("sha1").update(this.text).digest("hex");
        this.keys = [...this.text.matchAll(/^-- KEYS +(.*)$/gm)].flatMap(([, names]) => names.split(/\s+/));
        this.#own = [...this.keys.keys()].filter((i) => this.keys[i] in OWN);
    }

    /** Returns the words of EVALSHA for a call at one place of a queue. own: the id of the call, the token,
     * or the name of the flow, where the script has a key for one. */
    call(prefix, queue, args, own = "") {
        const stem = `${prefix}:{${queue}}:`;
        if (stem !== this.#stem) { // the keys of the last place are cached
            this.#stem = stem;
            this.#words = ["EVALSHA", this.sha, String(this.keys.length), ...this.keys.map((key) => stem + key)];
        }
        const words = [...this.#words, ...args];
        for (const i of this.#own) words[3 + i] = stem + OWN[this.keys[i]](own);
        return { script: this, key: words[3], words };
    }
}

module.exports = {
    CANCEL: new Script("cancel"),
    CRON_LOOK: new Script("cron_look"),
    CRON_MOVE: new Script("cron_move"),
    CRON_PUT: new Script("cron_put"),
    FLOW_JOIN: new Script("flow_join"),
    FLOW_PARK: new Script("flow_park"),
    FLOW_PUSH: new Script("flow_push"),
    KICK: new Script("kick"),
    PAUSE: new Script("pause"),
    PEEK: new Script("peek"),
    PUSH: new Script("push"),
    PUSH_NOW: new Script("push_now"),
    RESCHEDULE: new Script("reschedule"),
    RESUME: new Script("resume"),
    SHOW: new Script("show"),
    SIZE: new Script("size"),
};
