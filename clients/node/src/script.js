/**
 * The scripts that a client calls: the very files that laterd installs, carried along. `make` in
 * laterd's source tree copies them here, and a test compares them.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

class Script {
    constructor(name) {
        this.text = readFileSync(new URL(`../scripts/${name}.lua`, import.meta.url), "utf8");
        this.sha = createHash("sha1").update(this.text).digest("hex");
        this.keys = /^-- KEYS +(.*)$/m.exec(this.text)[1].split(/\s+/);
    }

    /** The call for one place of a queue, as the words of EVALSHA. */
    call(prefix, queue, args, call = "") {
        const keys = this.keys.map((key) => `${prefix}:{${queue}}:${key}${key === "call" ? `:${call}` : ""}`);
        return { script: this, key: keys[0],
            words: ["EVALSHA", this.sha, String(keys.length), ...keys, ...args] };
    }
}

export const PUSH = new Script("push");
export const PUSH_NOW = new Script("push_now");
export const SHOW = new Script("show");
