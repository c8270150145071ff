/*
 * why.h: finds out why a job does not run, for `later show`: the facts from Redis; what follows
 * from them is in trouble/why.h.
 *
 * It takes two commands a run (the daemons, the clock), and a job at most 19 more in one round
 * trip, mostly 3 to 6: its queue's pause, Redis's state, then for a ready job its place and two
 * minutes of history; for a delayed one its place in each line of what its type and queue need,
 * and three about the one where it is; for one that waits three for each of its flows. What the
 * user may not read is left out.
 */
#ifndef LATER_CLI_WHY_H
#define LATER_CLI_WHY_H

#include "output/jsonl.h"
#include "queue/inspect.h"
#include "trouble/why.h"
#include "whole.h"

struct served;

/* One run of a command. Zeroed but for cli; why_end() is due. */
struct why {
    struct cli *cli;
    struct served *served; /* owned; NULL: not asked yet, or not known */
    bool asked;
};
void why_end(struct why *why);

/* What was found: the first is what holds it now. */
struct why_answer {
    struct later_why whys[LATER_WHYS_MAX];
    size_t count;
};

/* Looks why this job, in a part of a queue, does not run. Returns 0, or -1 with *err if Redis does
 * not answer. */
int why_find(struct why *why, const struct whole *whole, const struct later_keys *part,
             const struct later_seen *seen, struct why_answer *answer, struct later_error *err);

/* Writes all of it in a line: `due in 3 min, at 09:12 UTC; also: mail is paused`. */
void why_say(char *out, size_t room, const struct why_answer *answer);

/* Adds the member `why`: an object, or null if there is no reason. */
void why_json(struct jsonl *json, const struct why_answer *answer);

#endif
