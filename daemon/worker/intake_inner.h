/* intake_inner.h: what the files of intake share: the stage's state. See intake.h for who owns
 * what. */
#ifndef LATERD_INTAKE_INNER_H
#define LATERD_INTAKE_INNER_H

#include "worker/intake.h"

#include "base/names.h"
#include "fault.h"

#define INTAKE_SECONDS 0.010 /* of work in a batch */
#define INTAKE_SOME    4     /* queues with work at once: worth a look for more of them */

struct intake_queue {
    struct worker_queue known; /* to the other stages */
    uint32_t rank;             /* in the order in which queues are looked at */
    uint32_t group;            /* of its entry in the configuration */
    bool live;                 /* there was work at the last look; set by intake_live() */
    bool more;                 /* there may be a whole batch in it; else only of a wake is known */
    double checked;            /* when that was */
    double average;            /* seconds a job takes, a moving average; 0: none has run */
    double bytes;              /* of a document, on average in the last answer */
    bool asked;                /* a reserve is under way, */
    size_t promised;           /* for at most so many jobs */
    double sent;               /* when it was sent, on main */
    bool silent;               /* it has had no answer for a while */
    bool resting;              /* refused, or cut off: until the timer `again` comes */
    size_t finding;            /* lost reserves being looked for */
    const struct plugin_type *limited;     /* of its last job, if its plugin has limited ... */
    char limited_name[LATER_TYPE_MAX + 1]; /* ... room for it */
    struct fault refused;
};

/* The queues of one entry of the configuration: a queue and its shards, or the queues of a pattern.
 * They are next to each other in the order, and take turns. */
struct intake_group {
    uint32_t first, count; /* ranks */
    uint32_t turn;         /* the queue that is looked at first, */
    double turned;         /* since when */
    uint32_t weight;
    double clock; /* jobs taken by weight (intake_choose) */
};

struct intake {
    struct worker *worker;

    struct intake_queue *queues; /* by index; they stay where they are */
    uint32_t queue_count, queue_room;
    struct later_names names;
    uint32_t *order; /* their indices, by rank */
    struct intake_group *groups;
    uint32_t group_count;
    uint64_t live[SLOTS_QUEUES / 64]; /* a bit for each rank */
    bool weighted;
    double clock;               /* the clock of the group that was chosen last */
    double average;             /* seconds a job takes in any queue, for those without an average */
    size_t trusted;             /* jobs in a batch, at most: few as long as none has run */
    double slowest, slowest_at; /* of the queues that have work: intake_slowest() */
    uint32_t limited;           /* queues whose `limited` is set */

    bool many;         /* too many queues to ask each for work that may be there, */
    struct seek *seek; /* so this finds those with a wake */
    double sought;     /* when it was asked last */
    double idle_since; /* 0: it is not */
    size_t found;      /* queues with work that came at the last look, or as soon as it was idle */
    uint32_t looked;   /* where the next look at few queues goes on, in turn */

    struct held *held; /* a circular buffer */
    size_t held_first, held_count, held_room;
    uint32_t next_slot; /* where to look for a free one */

    size_t asked;      /* reserves without an answer, on main */
    size_t promised;   /* jobs that all reserves without an answer may bring, */
    size_t unheard;    /* of them, those of silent queues */
    bool was_behind;   /* the keeper has given back jobs, perhaps not all of them yet */
    size_t awaits_ids; /* of them, those whose documents are then asked for */
    size_t finding;    /* lost reserves being looked for */
    bool waiting;      /* a BLPOP is out, */
    bool waits_long;   /* a long one */
    unsigned vain;     /* BLPOPs in a row that have brought nothing */
    bool deaf;         /* a BLPOP was refused: none until the timer `again` */
    bool unblocking;   /* the BLPOP was told to end */
    bool apart;        /* the queues are on several servers */

    struct timer *again;  /* after a refusal */
    struct timer *beside; /* looks at other queues while the jobs of some have no room */
    struct timer *late;   /* notes silent queues, where they are apart; else NULL */
};

/* --- intake_queues.c --- */

/* Enters the queues of the pool. Returns 0, or -1 without memory. */
int intake_serve(struct intake *intake);
/* Adds the queues that the patterns of the pool match by now (config_follow()). */
void intake_follow(struct intake *intake);

/* Notes whether there is work in a queue. */
void intake_live(struct intake *intake, struct intake_queue *queue, bool live);
/* There is work in it, perhaps a whole batch. */
void intake_live_more(struct intake *intake, struct intake_queue *queue);
/* Returns how long its jobs take, as far as is known. */
double intake_average(const struct intake *intake, const struct intake_queue *queue);
/* May the queue be asked now, and have its jobs room? (If not, it holds up nobody.) May it, and has
 * it work? Has any queue? */
bool intake_may_ask(const struct intake *intake, const struct intake_queue *queue);
bool intake_is_ready(const struct intake *intake, const struct intake_queue *queue);
bool intake_any_ready(const struct intake *intake);
/* Returns the average time of a job in the slowest of the queues that are ready, as of a moment
 * ago. */
double intake_slowest(struct intake *intake);
/* Returns the n-th queue to look at: groups in their order, the queues of a group in turn. */
struct intake_queue *intake_in_turn(struct intake *intake, uint32_t n);
/* This queue comes first in its group for a while, since settlements go to Redis in one write with
 * the next reserve of the same shard. Then it is the next one's turn. */
void intake_turn(struct intake *intake, const struct intake_queue *queue, double now);
/* Lists the queues of a group that are ready, in turn, at most `most`; returns how many. The second
 * does the same for all groups in their order. */
size_t intake_ready_of(struct intake *intake, const struct intake_group *group,
                       struct intake_queue **list, size_t most);
size_t intake_ready(struct intake *intake, struct intake_queue **list, size_t most);
/* Returns the group whose turn it is by weight, NULL if none has a ready queue. Each group gets its
 * share of the jobs, with shards as much as without. Then: notes how many jobs a group gave; and
 * how many may be asked for at once while others have jobs, too. */
struct intake_group *intake_choose(struct intake *intake);
void intake_count(struct intake *intake, const struct intake_queue *queue, size_t jobs);

/* Returns how many slots are neither in use nor promised to a reserve without an answer. As nothing
 * is asked for beyond that, each job that comes has a slot. */
size_t intake_free_slots(struct intake *intake);
/* Returns how many jobs of this queue make a batch and have room, also beside what is promised. */
size_t intake_room(struct intake *intake, const struct intake_queue *queue);
/* Is there no room for the jobs of some queue? Then the worker does not wait for wakes. */
bool intake_full(const struct intake *intake);

/* --- intake_keep.c --- */

/* The answer of a reserve, kept as long as any of its jobs needs its document. */
struct batch {
    struct intake_queue *queue;
    const struct slot_call *call; /* the reserve, until its jobs are kept */
    double sent;                  /* when it was sent */
    struct later_reply *reply;
    struct later_reply *documents; /* NULL: they are in `reply` */
    size_t users;
    uint32_t given; /* jobs in the answer */
};
/* Takes the jobs of an answer, as far as there is memory; the others are given back. Takes over the
 * batch (malloc), whose first five members are set, with both answers. */
void intake_keep(struct intake *intake, struct batch *batch);

/* --- intake_ask.c --- */

/* Asks a queue for a batch, but for at most so many jobs; for one at least, if there is room and no
 * other queue is asked. If one of the `count` queues ahead of it (at most LATER_AHEAD_MAX, on the
 * same server) has a wake, nothing comes, and that one has work from then on. Returns whether it
 * was asked. */
bool intake_ask(struct intake *intake, struct intake_queue *queue, size_t most,
                struct intake_queue *const *ahead, size_t count);
/* Reserves a few jobs of the only queue right after a BLPOP on `wake`; takes nothing after `until`
 * (seconds by Redis's clock). */
void intake_ask_behind(struct intake *intake, struct intake_queue *queue, double until,
                       double timeout);
/* A BLPOP was refused: the next one follows after a while. */
void intake_deaf(struct intake *intake);
/* Looks for reserves whose answer was lost. */
void intake_recover(struct intake *intake);
/* The timer `late`: the other queues go on without the reserves that have no answer yet. arg: the
 * intake. */
void intake_late(void *arg);

/* --- intake_wake.c --- */

/* If idle, there is nothing to do: waits. Otherwise there is, and nobody should call. */
void intake_wait(struct intake *intake, bool idle);

#endif
