/*
 * process.h: one worker process, seen from the supervisor: started, told, ended, reaped.
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
    double started;
    bool ready;
    bool draining;
    bool dismissed;          /* its end is no news */
    double term_at, kill_at; /* when it gets TERM, KILL, unless it has ended; 0 = not */
    enum keeper_cause cause; /* why it will have ended, if it was us */
    char why[128];
    char refused[600]; /* why it cannot start, in its own words; "" = it has not said so */
    char called[LATER_QUEUE_MAX + 1]; /* the queue that it was told to look at last */
    double called_at;
    uint32_t called_more; /* others behind that one, a moment later */
    struct process *next;
};

/* How a worker is started: for a pool, with a page at `page`. listens: it does not wait for wakes
 * itself (wake_listener.h); paused: until it is told to resume it reserves nothing. on_report is
 * called with what it writes on its status pipe. All but page must outlive it. */
struct process_options {
    struct event_base *base;
    struct generation *generation;
    const struct config_pool *pool;
    int number; /* for the log */
    const char *page, *host;
    bool listens, paused;
    void (*on_report)(void *arg, struct process *process, char report);
    void *arg;
};

/* Forks it. Returns NULL with *err (no process, no descriptors, no memory). */
struct process *process_start(const struct process_options *options, struct later_error *err);

/* Writes an order to its control pipe. */
void process_order(struct process *process, enum worker_order order);

/* Tells it where the master is now ("host:port"). */
void process_moved(struct process *process, const char *peer);

/* Tells it to look at this queue, if it is idle. false: it is not, or cannot be told. */
bool process_wake(struct process *process, const char *queue);

/* Tells one that was called a moment ago of another queue. false: it does not take more. */
bool process_wake_more(struct process *process, const char *queue);

/* Tells it to drain; TERM after `drain` seconds, KILL of its group `grace` seconds later. */
void process_drain(struct process *process, double drain, double grace);

/* TERM now, KILL of its group after `grace`; again and again is fine. */
void process_end(struct process *process, enum keeper_cause cause, const char *why, double grace);

/* Sends what is due. Returns the seconds until the next is due, or < 0 for nothing. */
double process_tick(struct process *process);

/* It was reaped: takes what it said last. Before process_describe(). */
void process_reaped(struct process *process);

/* How it ended, in words: "killed by signal 11 (Segmentation fault)". status: of waitpid(). */
void process_describe(const struct process *process, int status, char *text, size_t room);

/* Closes its pipes, kills what it left in its process group, frees it. Not its page. */
void process_free(struct process *process);

/* Kills children of ours that are none of `known`: what workers forked and orphaned (we are their
 * subreaper). */
void process_kill_strays(bool (*known)(void *arg, pid_t pid), void *arg);

#endif
