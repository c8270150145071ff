/**
 * crontab.js: schedules, as Redis keeps them: doc/protocol.md, "Schedules". What an expression means is laterd's: here
 * only its form is checked.
 */
"use strict";

const { KINDS, checkLabel, checkOptions, prepareScheduled } = require("./document.js");
const { Refused } = require("./errors.js");

// What a schedule has, and what that is if it is not said; `late` in seconds.
const SCHEDULE = {
    name: undefined, at: undefined, job: undefined, zone: "", catchUp: "last", overlap: "allow", spread: 0, late: 60,
    from: undefined, until: undefined, limit: undefined,
};
const POLICIES = { catchUp: ["last", "none", "all"], overlap: ["allow", "skip", "replace", "queue"] };
const MEANT = {
    pattern: "`at`", cron: "`at`", every: "`at`, such as \"@every 90s\"", tz: "`zone`", startDate: "`from`", endDate: "`until`",
    type: "in `job`", payload: "in `job`", data: "`payload`, in `job`", opts: "in `job`",
};
const AT_MAX = 256; // bytes
const SPAN_MAX = 31536000; // seconds
const LIMIT_MAX = 1e9;
const ROW = 5; // elements of the answer of cron_look for each

const AT = /^((CRON_)?TZ=[!-~]+ +)?(@[!-~]+( +[!-~]+)?|[!-~]+( +[!-~]+){4,5})$/;
const ZONE = /^[A-Za-z0-9_+/-]{1,64}$/;

function check(isGood, name, must, value) {
    if (!isGood) throw new Refused(`${name}: must be ${must} (${String(value).slice(0, 70)})`);
}

function checkTexts({ at, zone, ...policies }) {
    check(typeof at === "string" && at.length <= AT_MAX && AT.test(at), "at", "an expression of five fields (minute hour day " +
        "month weekday), six with the second first, or @hourly, @every 90s …", at);
    check(zone === "" || (typeof zone === "string" && ZONE.test(zone)), "zone", "a time zone, such as Europe/Berlin", zone);
    for (const [name, words] of Object.entries(POLICIES)) {
        check(words.includes(policies[name]), name, `one of ${words.join(", ")}`, policies[name]);
    }
}

/** Ticks are whole seconds. */
function instant(name, value, toWhole) {
    return value === undefined ? undefined : toWhole(KINDS.time(name, value, 1e9, 1e11));
}

const unless = (usual, value) => value === usual ? undefined : value;
const ifSaid = (value, checked) => value === undefined ? undefined : checked(value);

/** Returns the lines of a definition in their order, with undefined where it is the default. */
function linesOf(schedule, { priority, group, expiresIn }) {
    const span = (name, value, least) => KINDS.whole(name, value, least, SPAN_MAX);
    const from = instant("from", schedule.from, Math.ceil), until = instant("until", schedule.until, Math.floor);
    check(from === undefined || until === undefined || from <= until, "until", "at or after from", schedule.until);
    return {
        at: schedule.at, zone: unless("", schedule.zone),
        catch_up: unless("last", schedule.catchUp), overlap: unless("allow", schedule.overlap),
        spread: unless(0, span("spread", schedule.spread, 0)), late: unless(60, span("late", schedule.late, 0)),
        priority: unless(0, priority), group, expires_in: ifSaid(expiresIn, (value) => span("expiresIn", value, 1)),
        from, until, limit: ifSaid(schedule.limit, (value) => KINDS.whole("limit", value, 1, LIMIT_MAX)),
    };
}

/** Returns the name of a schedule, and how Redis keeps it; throws Refused. */
function scheduled(given) {
    if (typeof given !== "object" || given === null) throw new Refused("schedule: must be an object: { name, at, job, … }");
    checkOptions(given, SCHEDULE, MEANT);
    const said = Object.entries(given).filter(([, value]) => value !== undefined);
    const schedule = { ...SCHEDULE, ...Object.fromEntries(said) }, { job } = schedule;
    checkLabel("name", schedule.name);
    check(typeof job === "object" && job !== null, "job", 'an object, such as { type: "mail.send" }', job);
    const made = prepareScheduled(job);
    checkTexts(schedule);
    const lines = Object.entries(linesOf(schedule, made)).filter(([, value]) => value !== undefined);
    return { name: schedule.name, definition: `${lines.map(([tag, value]) => `${tag}=${value}\n`).join("")}\n${made.document}` };
}

function valueOf(lines, tag) {
    return lines.split("\n").find((line) => line.startsWith(`${tag}=`))?.slice(tag.length + 1) ?? "";
}

/** Reads the answer of cron_look. */
function schedulesOf(reply) {
    return Array.from({ length: (reply.length - 2) / ROW }, (_, i) => {
        const [name, next, , lines, state] = reply.slice(2 + i * ROW, 2 + (i + 1) * ROW);
        return {
            name, at: valueOf(lines, "at"), zone: valueOf(lines, "zone") || "UTC", next: next === "inf" ? null : Number(next),
            paused: valueOf(state, "paused") === "1", origin: valueOf(state, "origin"),
        };
    });
}

module.exports = { scheduled, schedulesOf };
