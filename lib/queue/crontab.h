/*
 * crontab.h: the schedules of a queue in Redis, as pure encoders and decoders (queue.h says how
 * they are used). The scripts' heads (scripts/cron_*.lua) say what each does.
 */
#ifndef LATER_CRONTAB_H
#define LATER_CRONTAB_H

#include "cron/schedule.h"
#include "queue/queue.h"

#include <math.h>

/* --- look --- */

/* from: "due", a rank, or "=NAME". limit: 1 … LATER_BATCH_MAX. */
void later_crontab_look(struct later_command *cmd, const struct later_keys *keys, const char *from,
                        size_t limit);

/* Borrowed from the reply. */
struct later_crontab_row {
    const char *name;
    double next; /* UNIX time; INFINITY: none */
    const char *digest, *lines, *state;
};

struct later_crontab {
    double now;  /* Redis's clock */
    double next; /* seconds until the next tick; < 0 = none */
    size_t count;
};

void later_crontab_looked(const struct later_reply *reply, struct later_crontab *crontab);
void later_crontab_row(const struct later_reply *reply, size_t i, struct later_crontab_row *row);

/* Is its next tick none, but the question which is (cron_put.lua)? */
bool later_crontab_asks(const struct later_crontab_row *row);

/* --- put --- */

/* definition: of later_schedule_write(). next: UNIX time; < 0: none. */
void later_crontab_put(struct later_command *cmd, const struct later_keys *keys, const char *name,
                       const char *definition, size_t len, int64_t next, const char *origin);

enum later_put { LATER_CRON_PUT, LATER_CRON_SAME, LATER_CRON_AGAIN };
enum later_put later_crontab_was_put(const struct later_reply *reply);

/* Returns the first tick after now and after the last tick in `state`; < 0: none, or its limit is
 * reached. */
int64_t later_crontab_first(const struct later_schedule *schedule, const struct later_zone *zone,
                            const char *state, double now);

/* --- move --- */

enum later_move { LATER_CRON_PAUSE, LATER_CRON_RESUME, LATER_CRON_DROP, LATER_CRON_SEEN };

/* Adds one of 1 … LATER_BATCH_MAX names. with: for resume the next tick, for drop an origin; NULL =
 * "". */
void later_crontab_move(struct later_command *cmd, const struct later_keys *keys,
                        enum later_move what, const char *const *names, const char *with,
                        size_t count);

/* --- fire --- */

#define LATER_CRON_HELD  10  /* seconds until a held tick comes again */
#define LATER_CRON_STALE 600 /* seconds until one of a configuration that no host names rests */

/* firing: what its schedule has to do; NULL: it cannot be read here, so its tick is held. */
void later_crontab_fire(struct later_command *cmd, const struct later_keys *keys,
                        const struct later_crontab_row *row, const struct later_firing *firing);

/* What an outcome is to whoever fired the tick. */
enum later_fired_as {
    LATER_FIRED_NOT,   /* the tick is over without a job: worth a line */
    LATER_FIRED_JOB,   /* its job was pushed: the same */
    LATER_FIRED_MOVED, /* somebody else had fired it, or the schedule is another one */
    LATER_FIRED_NONE   /* there was no tick to push, or not yet */
};

struct later_fired {
    const char *outcome, *id; /* FIRED … ; borrowed from the reply */
    enum later_fired_as as;
    double now, next; /* as in later_crontab */
};
void later_crontab_fired(const struct later_reply *reply, struct later_fired *fired);

#endif
