/** events.js: ends of jobs, as a queue tells of them: doc/protocol.md, "Events". */
"use strict";

const { setTimeout: pause } = require("node:timers/promises");

const { ENDS_MAX } = require("./bounds.js");
const { KINDS } = require("./document.js");
const { Refused } = require("./errors.js");

const ENTRIES = 10; // of a place in one answer
const LOOK = 0.2; // seconds between two looks
const BOOKMARK = /^[A-Za-z0-9_./-]+:[0-9]{1,15}( [A-Za-z0-9_./-]+:[0-9]{1,15})*$/;

/** The number of an entry's last end. */
const numberOf = ([id]) => Number(String(id).split("-")[0]);

/** One events(): what it goes on after, by place (the queue, or a shard), and what it has found. */
class Page {
    #ends = [];
    #missed = 0;
    #numbers = new Map();

    constructor({ queue, after, limit, timeout }) {
        this.queue = queue;
        this.limit = KINDS.whole("limit", limit, 1, ENDS_MAX);
        this.until = performance.now() + 1000 * KINDS.seconds("timeout", timeout, 0, Infinity);
        this.fromNow = after === "now";
        this.follows = after !== "" && !this.fromNow; // what is not there is missed
        if (this.follows && !(typeof after === "string" && BOOKMARK.test(after))) {
            throw new Refused(`after: must be a bookmark, now or nothing (${String(after).slice(0, 70)})`);
        }
        for (const word of this.follows ? after.split(" ") : []) {
            const [place, number] = word.split(":");
            if (place.split("/")[0] !== queue) throw new Refused(`after: the bookmark is of queue ${place.split("/")[0]}`);
            this.#numbers.set(place, Number(number));
        }
    }

    /** Waits for the first ones, if there are none. link: `prefix` and `do(key, words)`. */
    async read(link, places) {
        for (;;) {
            for (const place of places) await this.#readFrom(link, `${link.prefix}:{${place}}:events`, place, places.length);
            const left = this.until - performance.now();
            if (this.#ends.length || this.fromNow || left <= 0) return this.told();
            await pause(Math.min(1000 * LOOK, left));
        }
    }

    async #readFrom(link, key, place, places) {
        const share = Math.ceil(this.limit / places); // so that none has to wait for another
        let taken = 0;
        while (taken < share && !this.fromNow) {
            const entries = await link.do(key, ["XRANGE", key, String(this.last(place) + 1), "+", "COUNT", String(ENTRIES)]);
            taken += this.#take(place, entries, share - taken);
            if (entries.length < ENTRIES) break;
        }
        if (taken || !(this.fromNow || this.last(place))) return;
        const [entry] = await link.do(key, ["XREVRANGE", key, "+", "-", "COUNT", "1"]);
        const number = entry ? numberOf(entry) : 0;
        if (this.fromNow) this.#numbers.set(place, number);
        else if (number < this.last(place)) {
            this.#numbers.set(place, 0);
            this.#missed = null;
            await this.#readFrom(link, key, place, places);
        }
    }

    /** Takes what it has not told of yet, and returns how many ends. */
    #take(place, entries, share) {
        let taken = 0;
        for (const entry of entries) {
            const fields = new Map(), last = numberOf(entry), at = Number(String(entry[0]).split("-")[1]) / 1e6;
            for (let i = 0; i < entry[1].length; i += 2) fields.set(String(entry[1][i]), String(entry[1][i + 1]));
            const lines = (fields.get("ends") ?? "").split("\n");
            let n = last - lines.length;
            if (this.follows && this.#missed !== null) this.#missed += Math.max(0, n - this.last(place));
            for (const line of lines) {
                if (taken === share) return taken;
                if (++n <= this.last(place)) continue;
                taken++;
                this.#numbers.set(place, n);
                this.#tell(line, at, fields.get("host") ?? "");
            }
        }
        return taken;
    }

    #tell(line, at, host) {
        try {
            const { id, type, ending, state, kind = null, attempt = null, ms = null, waited = null } = JSON.parse(line);
            this.#ends.push({ queue: this.queue, id, type, ending, state, at, host, kind, attempt, ms, waited });
        } catch {
            // another program wrote it
        }
    }

    last(place) {
        if (!this.#numbers.has(place)) this.#numbers.set(place, 0);
        return this.#numbers.get(place);
    }

    /** Of a fake, which has all ends of the queue. */
    tellOf(ends) {
        this.#ends = this.fromNow ? [] : ends.slice(this.last(this.queue), this.last(this.queue) + this.limit);
        this.#numbers.set(this.queue, this.fromNow ? ends.length : this.last(this.queue) + this.#ends.length);
        return this.told();
    }

    told() {
        const bookmark = [...this.#numbers.keys()].sort().map((place) => `${place}:${this.#numbers.get(place)}`).join(" ");
        return { ends: this.#ends.sort((a, b) => a.at - b.at), missed: this.#missed, bookmark };
    }
}

module.exports = { Page };
