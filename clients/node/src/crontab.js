/**
 * crontab.js: schedules, as Redis keeps them: doc/protocol.md, "Schedules". What an expression means is laterd's: here
 * only its form is checked.
 */
"use strict";

const { KINDS, checkLabel, checkOptions, prepareScheduled } = require("./document.js");
const { Refused } = require("./errors.js");

const MEANT = {
    pattern: "`at`", cron: "`at`", every: "`at`, such as \"@every 90s\"", tz: "`zone`", startDate: "`from`", endDate: "`until`",
    type: "in `job`", payload: "in `job`", data: "`payload`, in `job`", opts: "in `job`",
};
const ROW = 5; // elements of the answer of cron_look for each

const FORMS = {
    // @schedule pattern: {name}: /^{regex}$/,
    expression: /^((CRON_)?TZ=[!-~]+ +)?(@[!-~]+( +[!-~]+)?|[!-~]+( +[!-~]+){4,5})$/,
    zone: /^[A-Za-z0-9_+/-]+$/,
    // @end
};
const WORDS = {
    // @schedule choice: {camel}: [{quoted}],
    catchUp: ["last", "none", "all"],
    overlap: ["allow", "skip", "replace", "queue"],
    // @end
};

function check(isGood, name, must, value) {
    if (!isGood) throw new Refused(`${name}: must be ${must} (${String(value).slice(0, 70)})`);
    return value;
}

const fits = (form, value, most) => typeof value === "string" && value.length <= most && FORMS[form].test(value);

const CHECKS = {
    expression: (name, value, least, most) => check(fits("expression", value, most), name, "an expression of five fields (minute " +
        "hour day month weekday), six with the second first, or @hourly, @every 90s …", value),
    zone: (name, value, least, most) =>
        check(value === "" || fits("zone", value, most), name, "a time zone, such as Europe/Berlin", value),
    choice: (name, value) => check(WORDS[name].includes(value), name, `one of ${WORDS[name].join(", ")}`, value),
    span: KINDS.whole,
    life: KINDS.whole,
    rank: KINDS.whole,
    group: (name, value) => value, // the job's own check has seen it
    start: (...given) => Math.ceil(KINDS.time(...given)), // ticks are whole seconds
    end: (...given) => Math.floor(KINDS.time(...given)),
    count: KINDS.count,
};

// Of each option its member, its name in Redis, its check, its range, what is left out, and who has it.
const OPTIONS = [
    // @schedule option: ["{camel}", "{name}", CHECKS.{kind}, {least}, {most}, {usual}, "{owner}"],
    ["at", "at", CHECKS.expression, 1, 256, 0, "schedule"],
    ["zone", "zone", CHECKS.zone, 1, 64, "", "schedule"],
    ["catchUp", "catch_up", CHECKS.choice, 0, 0, "last", "schedule"],
    ["overlap", "overlap", CHECKS.choice, 0, 0, "allow", "schedule"],
    ["spread", "spread", CHECKS.span, 0, 31536000, 0, "schedule"],
    ["late", "late", CHECKS.span, 0, 31536000, 60, "schedule"],
    ["priority", "priority", CHECKS.rank, -100, 100, 0, "job"],
    ["group", "group", CHECKS.group, 1, 64, "", "job"],
    ["expiresIn", "expires_in", CHECKS.life, 1, 31536000, "", "job"],
    ["from", "from", CHECKS.start, 1e9, 1e11, "", "schedule"],
    ["until", "until", CHECKS.end, 1e9, 1e11, "", "schedule"],
    ["limit", "limit", CHECKS.count, 1, 1000000000, "", "schedule"],
    // @end
];
const KNOWN = Object.fromEntries([
    "name", "job", ...OPTIONS.filter(([, , , , , , owner]) => owner === "schedule").map(([member]) => member),
].map((member) => [member, true]));

/** Returns the lines of a definition in their order, with undefined where it is the default. */
function linesOf(owners) {
    const lines = {};
    for (const [member, tag, checked, least, most, usual, owner] of OPTIONS) {
        const value = owners[owner][member];
        if (value === undefined && member !== "at") continue;
        const told = checked(member, value, least, most);
        if (told !== usual) lines[tag] = told;
    }
    check(!(lines.from > lines.until), "until", "at or after from", owners.schedule.until);
    return lines;
}

/** Returns the name of a schedule, and how Redis keeps it; throws Refused. */
function scheduled(given) {
    if (typeof given !== "object" || given === null) throw new Refused("schedule: must be an object: { name, at, job, … }");
    checkOptions(given, KNOWN, MEANT);
    const { name, job } = given;
    checkLabel("name", name);
    check(typeof job === "object" && job !== null, "job", 'an object, such as { type: "mail.send" }', job);
    const made = prepareScheduled(job);
    const lines = Object.entries(linesOf({ schedule: given, job: made }));
    return { name, definition: `${lines.map(([tag, value]) => `${tag}=${value}\n`).join("")}\n${made.document}` };
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
