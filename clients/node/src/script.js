/**
 * The scripts that a client calls: copies of those that laterd installs. clients/carry.sh makes them
 * when the source tree or the package is built.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

// Of keys that differ from call to call, the name in Redis; what follows it is the call's.
const OWN = { call: "call", held: "reserved" };

class Script {
    #stem = "";
    #words = [];
    #own;

    constructor(name) {
        this.text = readFileSync(new URL(`../scripts/${name}.lua`, import.meta.url), "utf8");
        this.sha = createHash("sha1").update(this.text).digest("hex");
        this.keys = [...this.text.matchAll(/^-- KEYS +(.*)$/gm)].flatMap(([, names]) => names.split(/\s+/));
        this.#own = this.keys.findIndex((key) => key in OWN);
    }

    /** Returns the words of EVALSHA for a call at one place of a queue. own: the id of the call, or the
     * token, where the script has a key for one. */
    call(prefix, queue, args, own = "") {
        const stem = `${prefix}:{${queue}}:`;
        if (stem !== this.#stem) { // the keys of the last place are cached
            this.#stem = stem;
            this.#words = ["EVALSHA", this.sha, String(this.keys.length), ...this.keys.map((key) => stem + key)];
        }
        const words = [...this.#words, ...args];
        if (this.#own >= 0) words[3 + this.#own] = `${stem}${OWN[this.keys[this.#own]]}:${own}`;
        return { script: this, key: words[3], words };
    }
}

export const CANCEL = new Script("cancel");
export const KICK = new Script("kick");
export const PUSH = new Script("push");
export const PUSH_NOW = new Script("push_now");
export const SHOW = new Script("show");
export const SIZE = new Script("size");
