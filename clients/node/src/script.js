/**
 * The scripts that a client calls: copies of those that laterd installs. clients/carry.sh makes them
 * when the source tree or the package is built.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

class Script {
    #stem = "";
    #words = [];
    #call;

    constructor(name) {
        this.text = readFileSync(new URL(`../scripts/${name}.lua`, import.meta.url), "utf8");
        this.sha = createHash("sha1").update(this.text).digest("hex");
        this.keys = /^-- KEYS +(.*)$/m.exec(this.text)[1].split(/\s+/);
        this.#call = this.keys.indexOf("call");
    }

    /** Returns the words of EVALSHA for a call at one place of a queue. */
    call(prefix, queue, args, call = "") {
        const stem = `${prefix}:{${queue}}:`;
        if (stem !== this.#stem) { // the keys of the last place are cached
            this.#stem = stem;
            this.#words = ["EVALSHA", this.sha, String(this.keys.length), ...this.keys.map((key) => stem + key)];
        }
        const words = [...this.#words, ...args];
        if (this.#call >= 0) words[3 + this.#call] += `:${call}`;
        return { script: this, key: words[3], words };
    }
}

export const PUSH = new Script("push");
export const PUSH_NOW = new Script("push_now");
export const SHOW = new Script("show");
