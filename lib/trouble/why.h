/*
 * why.h: why does a job that waits not run? One table of reasons, and their words (pure).
 *
 * The caller has looked at the job, its queue, the daemons and what the job waits for. It fills in
 * what it knows, and leaves the rest as it is by LATER_WHY_FACTS:
 *
 *     struct later_why_facts facts = LATER_WHY_FACTS;
 *     struct later_why whys[LATER_WHYS_MAX];
 *
 *     facts.state = "delayed"; …
 *     count = later_why_find(&facts, whys);      the first is what holds it now
 */
#ifndef LATER_WHY_H
#define LATER_WHY_H

#include "queue/override.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the order of doc/later.1. */
enum later_reason {
    LATER_WHY_RUNNING,      /* it is reserved: a worker has it */
    LATER_WHY_DEAD,         /* nobody runs it until it is kicked */
    LATER_WHY_FLOW,         /* it waits for steps of its flow */
    LATER_WHY_BLOCKED,      /* and one of these is dead */
    LATER_WHY_LOCK,         /* it waits for a lock */
    LATER_WHY_MAX_RUNNING,  /* for a permit of max_running */
    LATER_WHY_LIMIT,        /* for a limit */
    LATER_WHY_TYPE_UNKNOWN, /* no host has its type */
    LATER_WHY_ELSEWHERE,    /* a host without its type gave it back, and another one has it */
    LATER_WHY_RETURNED,     /* its handler gave it back */
    LATER_WHY_RETRY,        /* it failed, and waits for its backoff */
    LATER_WHY_DUE,          /* it is not due yet */
    LATER_WHY_EXPIRED,      /* its time is over */
    LATER_WHY_NO_LATERD,    /* no laterd is alive */
    LATER_WHY_HOST_LOST,    /* those that served its queue are gone */
    LATER_WHY_UNSERVED,     /* no laterd serves its queue */
    LATER_WHY_PAUSED,       /* its queue is paused */
    LATER_WHY_TYPE_PAUSED,  /* its type is */
    LATER_WHY_QUIET,        /* the hosts that serve its queue are */
    LATER_WHY_REDIS_FULL,   /* Redis takes no writes: its memory is used up */
    LATER_WHY_REDIS_DISK,   /* the same: it cannot write to its disk */
    LATER_WHY_FAULT,        /* each laterd that serves it says that something is wrong with it */
    LATER_WHY_AHEAD,        /* others are ahead of it */
    LATER_WHY_SUSPECT,      /* it must run alone */
    LATER_WHY_BUSY,         /* all workers have something to do */
    LATER_WHY_MOVES,        /* it is due: a laterd makes it ready within a second */
    LATER_WHY_NEXT,         /* it is the next one */
    LATER_WHY_EXPIRES,      /* it will expire before its turn comes, or soon */
    LATER_WHYS
};

/* name: for programs, `no_laterd`. words: for people, what it means; a test compares both with
 * doc/later.1. */
struct later_reason_row {
    const char *name, *words;
};
extern const struct later_reason_row later_reasons[LATER_WHYS];

/* What is known. Texts are borrowed; "" = not known, or none. Times are UNIX seconds by Redis's
 * clock, 0 = not known, or none. */
struct later_why_facts {
    double now;

    /* the job */
    const char *state, *queue, *type;
    double score;                        /* as in its set */
    uint32_t attempts;                   /* that have failed */
    const char *error_kind, *error_text; /* of the last one */
    double unknown_since;                /* nobody has had its type since then */
    bool elsewhere;                      /* but a host runs others of that type */
    double expires_at;
    bool suspect;
    bool again; /* another of its id runs after it */

    /* the queue */
    bool paused;
    const char *paused_by;
    double paused_since, paused_until;
    const struct later_override *type_pause; /* of its type there; NULL: none */
    bool kept;                               /* and the job is kept aside by that */
    int64_t ahead;                           /* jobs before it in ready; < 0: not known */
    double rate;                             /* attempts a second; < 0: not known */

    /* the daemons; < 0 = not known */
    int alive, serving;    /* how many there are; serve its queue */
    const char *lost;      /* one that served it, or the last one at all, and is gone */
    double lost_since;     /* when that was seen last */
    int64_t workers, runs; /* of those that serve it: their workers, the jobs that run */
    const char *quiet;     /* one of them, if all are quiet, and who did that since when */
    const char *quiet_by;
    double quiet_since;
    const char *fault; /* what is wrong with each of them, by the words of the first */
    const char *full;  /* Redis: `100.0 MiB of 100.0 MiB` */
    const char *disk;  /* Redis: which write to its disk failed */

    /* what it waits for in a line */
    struct {
        enum later_reason what; /* LOCK, MAX_RUNNING or LIMIT; 0: none */
        const char *name, *owner;
        double since, opens; /* the owner has it since then; a limit opens then */
        int64_t nth;         /* in the line, from 1; 0: it has been called */
        int64_t held, max;   /* permits that are taken, of how many; max 0 = not known */
        const struct later_override *set; /* the numbers that hold; NULL: the configured ones */
    } line;

    /* what it waits for in a flow */
    struct {
        const char *name;
        const char *steps; /* `a (dead), b (ready)`: some that have not ended as they must */
        uint64_t unmet, all, dead; /* how many these are; of how many; how many of them are dead */
        const char *home; /* it waits for no step, only to be let run by its flow, there; or "" */
        const char *unserved; /* another queue that the flow needs, and that nobody serves; or "" */
    } flow;
};

#define LATER_WHY_FACTS                                                                            \
    {                                                                                              \
        .state = "", .queue = "", .type = "", .error_kind = "", .error_text = "", .paused_by = "", \
        .ahead = -1, .rate = -1, .alive = -1, .serving = -1, .lost = "", .workers = -1,            \
        .runs = -1, .quiet = "", .quiet_by = "", .fault = "", .full = "", .disk = "",              \
        .line = { .name = "", .owner = "" }, .flow = {                                             \
            .name = "",                                                                            \
            .steps = "",                                                                           \
            .home = "",                                                                            \
            .unserved = ""                                                                         \
        }                                                                                          \
    }

#define LATER_WHYS_MAX 5 /* that are said of one job */
#define LATER_WHY_SIZE 400

struct later_why {
    enum later_reason reason;
    char text[LATER_WHY_SIZE]; /* one line */
    char thing[201];           /* the lock, limit, flow, queue, type or host; or "" */
    char by[251];              /* who has it, or did it; or "" */
    double since, until;       /* 0: not known */
    int64_t count; /* jobs ahead; its place in a line; steps that it waits for; < 0: none */
};

/* Finds why the job does not run. Returns how many reasons there are; 0 if it has ended. */
size_t later_why_find(const struct later_why_facts *facts, struct later_why whys[LATER_WHYS_MAX]);

#endif
