/*
 * event.h: the ends that a queue tells of in its stream `events` (doc/protocol.md, "Events"): what
 * the settling scripts write there, and how it is read.
 *
 * Ends of a queue, or of a shard, are numbered from 1. An entry of the stream has those of one
 * call; its id is the number of the last one, and the time in microseconds.
 */
#ifndef LATER_EVENT_H
#define LATER_EVENT_H

#include "job/ending.h"
#include "redis/command.h"
#include "redis/key.h"
#include "redis/reply.h"

#define LATER_EVENTS_MAX 1000000 /* ends that a queue keeps */

/* How a job, or an attempt at it, has ended. */
struct later_event {
    const char *id, *type; /* type: "" = not known */
    enum later_ending ending;
    bool last;   /* no attempt follows */
    double wait; /* if one does: seconds until it is due; 0 = it is ready */
    uint32_t attempt;
    double ran;    /* seconds; 0 = not known */
    double waited; /* seconds that it was ready; below 0 = not known */
};

/* Does this verb end a job, or an attempt? Of a job that only goes back nothing is told. */
bool later_event_is_told(enum later_verb verb);

/* Adds to a call that later_script_tell() was said before: behind its own arguments a line for each
 * job, in their order; after the last one, on which host they ended, and how many ends the queue
 * keeps. Without memory the command becomes failed. */
void later_event_add(struct later_command *cmd, const struct later_event *event);
void later_events_end(struct later_command *cmd, const char *host, uint32_t kept);

/* --- reading --- */

/* Asks for the first entries after the end of this number, at most `count`; the reply is an array
 * of entries. */
void later_events_ask(struct later_command *cmd, const struct later_keys *keys, uint64_t after,
                      size_t count);

/* Asks for the last entry, in the same form. */
void later_events_ask_last(struct later_command *cmd, const struct later_keys *keys);

/* One entry; its strings are borrowed. */
struct later_event_entry {
    uint64_t last, first; /* the numbers of its ends */
    double at;            /* UNIX seconds */
    const char *host;
    const char *ends; /* a line of JSON for each, with line ends between them */
    size_t len;
};

/* Reads one; false: another program wrote it. */
bool later_event_entry(const struct later_reply *entry, struct later_event_entry *read);

/* Returns the next line of an entry, at *at (0 at first), and its length; NULL: no more. */
const char *later_event_next(const struct later_event_entry *entry, size_t *at, size_t *len);

#endif
