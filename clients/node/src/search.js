/** search.js: looks through the sets of a queue, the newest first, a page at a time. */
"use strict";

const { LOOKED_MAX } = require("./bounds.js");
const { PEEK } = require("./script.js");

const PAGE = 500;

/**
 * link: `prefix`, `do(key, words)`, `call(call)` and `found(id, place, reply)` of a client. What moves meanwhile
 * may be missed, but nothing is found twice.
 */
async function search(link, places, what) {
    const found = new Map();
    let left = LOOKED_MAX;
    const isOver = () => left === 0 || found.size === what.limit;

    /** Returns the keys of the sets of a state, each with its token: reserved jobs are under tokens. */
    async function setsOf(place, state) {
        const key = `${link.prefix}:{${place}}:${state}`;
        if (state !== "reserved") return [[key, ""]];
        return (await link.do(key, ["ZRANGE", key, "0", "-1"])).map((token) => [`${key}:${token}`, token]);
    }

    /** A reply may have fewer than asked: it is bounded in bytes, too. */
    async function page(place, state, token, begin, end) {
        const members = [];
        while (begin + members.length < end) {
            const from = begin + members.length;
            const reply = await link.call(PEEK.call(link.prefix, place, [state, String(from), String(end - from)], token));
            if (!reply.length) break;
            for (let i = 0; i < reply.length; i += 4) members.push(reply.slice(i, i + 4));
        }
        return members;
    }

    function look(place, state, [id, score, record, document]) {
        if (isOver()) return;
        left--;
        const key = id || `{${document}`;
        if (!found.has(key) && what.fits(document)) found.set(key, link.found(id, place, [state, score, record, document]));
    }

    for (const place of places) {
        for (const state of what.states) {
            for (const [key, token] of await setsOf(place, state)) {
                let end = isOver() ? 0 : Number(await link.do(key, ["ZCARD", key]));
                while (end && !isOver()) {
                    const begin = Math.max(0, end - PAGE);
                    const members = await page(place, state, token, begin, end);
                    for (const member of members.reverse()) look(place, state, member);
                    end = begin;
                }
            }
        }
    }
    return [...found.values()];
}

module.exports = { search };
