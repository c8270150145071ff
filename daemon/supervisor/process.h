/*
 * process.h: one worker process as the supervisor sees it: start, orders, end.
 */
#ifndef LATERD_PROCESS_H
#define LATERD_PROCESS_H

#include "keeper/keeper.h"
#include "worker/orders.h"

#include <sys/types.h>

/* A configuration with the processes that use it. Freed with the last of them. */
struct generation {
    struct config *config; /* owned */
    size_t users;
};
struct generation *generation_new(struct config *config);
void generation_release(struct generation *generation);

struct process {
    pid_t pid;
    int number;                    /* for the log */
    struct generation *generation; /* held */
    const struct config_pool *pool;
    struct slots *slots; /* owned; after its death the keeper's until `settled` */
    int control_fd;      /* orders */
    int status_fd;       /* reports */
    struct event *status;
    void (*on_report)(void *arg, struct process *process, char report);
    void *arg;
    double started;
    double roused; /* when it was told to make its connections again; 0: it has stirred since */
    double asked;  /* heartbeat.h: when it was last asked for a heartbeat; 0: never */
    unsigned unanswered; /* looks since then, a second each, in which it could have answered */
    bool ready;
    bool draining;
    bool dismissed;                   /* its end is expected */
    double term_at, kill_at;          /* when it gets TERM, KILL, unless it has ended; 0 = not */
    const char *drained;              /* why it drains, in words */
    enum later_ending ending;         /* why it will have ended, if it was us: */
    char why[128];                    /* in words, once it has had TERM from us */
    char refused[600];                /* why it cannot start, in its own words; "" = unknown */
    char called[LATER_QUEUE_MAX + 1]; /* the queue that it was told to look at last */
    double called_at;
    uint32_t called_more; /* further queues after that one */
    struct process *next;
};

/* How a worker is started: for a pool, with a page at `page`. If it listens, it does not wait for
 * wakes itself (wake_listener.h). If paused, it reserves nothing until it is told to resume.
 * on_report is called with each byte from its status pipe. All but page must outlive it. */
struct process_options {
    struct event_base *base;
    struct generation *generation;
    const struct config_pool *pool;
    int number; /* for the log */
    const char *page, *host;
    struct quota *quota; /* NULL: none */
    struct overlay *overlay;
    bool listens, paused;
    void (*on_report)(void *arg, struct process *process, char report);
    void *arg;
};

/* Forks. Returns as fork() does; the child has the default action for each signal, but ignores INT
 * (a terminal's Ctrl-C is for the supervisor), HUP, TSTP, PIPE and XFSZ, and none is lost between:
 * no handler of ours ever runs in it. */
pid_t process_fork(void);

/* In such a child: closes all descriptors from `first` on. */
void process_close_from(int first);

/* Forks a worker. Returns NULL with *err (no process, descriptor or memory). */
struct process *process_start(const struct process_options *options, struct later_error *err);

/* Writes an order to its control pipe. */
void process_order(struct process *process, enum worker_order order);

/* Tells it where the master is now ("host:port"). */
void process_moved(struct process *process, const char *peer);

/* Tells it to look at this queue, if it is idle. Returns false if it is not idle or cannot be told.
 */
bool process_wake(struct process *process, const char *queue);

/* Tells a worker that was called a moment ago of another queue. Returns false if it takes no more.
 */
bool process_wake_more(struct process *process, const char *queue);

/* Tells it to drain; TERM after `drain` seconds, KILL of its group `grace` seconds later, unless
 * they are due earlier. why: what is said of jobs that are cut then; kept. */
void process_drain(struct process *process, double drain, double grace, const char *why);

/* TERM now, KILL of its group after `grace`, unless that is due earlier; again and again is fine.
 */
void process_end(struct process *process, enum later_ending ending, const char *why, double grace);

/* Sends the signals that are due. */
void process_tick(struct process *process);

/* It has ended, and was not waited for: kills what it left in its group, reaps it and reads its
 * last report. Returns its status, as waitpid() does. Call it before the next three. */
int process_reap(struct process *process);

/* What is to blame for its end, for the jobs that ran in it. */
enum later_ending process_ending(const struct process *process, int status);

/* Was that a crash? A worker that was killed from outside is not to blame. One that leaves nothing
 * but settlements, since Redis is away, has ended well. */
bool process_crashed(const struct process *process, int status);

/* Says how it ended: "killed by signal 11 (Segmentation fault)". */
void process_describe(const struct process *process, int status, char *text, size_t room);

/* Closes its pipes and frees it. Not its page. */
void process_free(struct process *process);

/* Kills our children that are not `known`: workers forked them and died, and we are the subreaper.
 */
void process_kill_strays(bool (*known)(void *arg, pid_t pid), void *arg);

#endif
