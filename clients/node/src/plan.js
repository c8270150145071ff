/** plan.js: a queue that is spread over several: doc/protocol.md, "Shards". */
"use strict";

const { SHARDS_MAX } = require("./bounds.js");

const TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
    let crc = byte << 8;
    for (let i = 0; i < 8; i++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
    return crc & 0xffff;
});

/** CRC16/XMODEM, as in Redis Cluster. Ids are ASCII. */
function crc16(text) {
    let crc = 0;
    for (let i = 0; i < text.length; i++) {
        crc = ((crc << 8) ^ TABLE[(crc >> 8) ^ text.charCodeAt(i)]) & 0xffff;
    }
    return crc;
}

function placeOf(queue, count, id) {
    return count > 1 ? `${queue}/${crc16(id) % count}` : queue;
}

/** EPOCH COUNT FORMER… null means that the queue has one place, itself. */
class Plan {
    constructor(text) {
        const [epoch, ...words] = (text || "0 1").split(" ");
        const counts = words.map(Number).filter((n) => n >= 1 && n <= SHARDS_MAX);
        this.epoch = epoch;
        this.count = counts[0] ?? 1;
        this.former = counts.slice(1);
    }

    /** Returns the places of an id: first those where it may still lie, last the one where it
     * belongs. */
    route(queue, id) {
        if (this.count === 1 && !this.former.length) return [queue];
        const last = placeOf(queue, this.count, id);
        const places = new Set(this.former.map((count) => placeOf(queue, count, id)));
        places.delete(last);
        return [...places, last];
    }

    /** Returns all places of a queue, also those of former counts. The plain queue is always one. */
    places(queue) {
        const most = Math.max(this.count, ...this.former);
        return [queue, ...Array.from({ length: most > 1 ? most : 0 }, (_, i) => `${queue}/${i}`)];
    }
}

module.exports = { Plan };
