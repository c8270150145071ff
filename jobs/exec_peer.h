/*
 * exec_peer.h: a long-lived program that does many jobs at once, on the worker's event loop.
 *
 * Jobs for it wait in a buffer of ours until its standard input takes them. Each line's place in
 * that stream is noted. So when the program ends, it is known which jobs it had begun to read:
 * those have failed, and the others go to the next program.
 *
 * A retired peer takes no more jobs: it has done its number of jobs, has said that it is ending, or
 * did not give up a job when asked. When it has nothing left to do its input is closed, and then it
 * gets TERM and KILL.
 */
#ifndef LATER_JOBS_EXEC_PEER_H
#define LATER_JOBS_EXEC_PEER_H

#include "exec_process.h"

#include <event2/event.h>

struct evbuffer;

/* A job and its program. */
struct exec_task {
    struct later_job *job; /* NULL = settled without an answer, which may still come */
    struct exec_peer *peer;
    struct exec_task *next, *before;
    struct exec_task *alike; /* the next in its place of by_id */
    struct event *patience;  /* the timer while the program is asked to give the job up */
    uint64_t begin;          /* where its line begins in the peer's stream */
    uint64_t end;   /* and where it ends, if limits wait to be told that it has begun; else 0 */
    unsigned tries; /* programs that ended without having read it */
    bool timed_out;
    char id[];
};

enum { EXEC_PEER_HASH = 256 }; /* places where tasks are found by their ids */

/* A running program. */
struct exec_peer {
    const struct exec_program *program;
    struct exec_process *process;
    struct evbuffer *out; /* bytes not written yet */
    uint64_t queued;      /* bytes ever put into it */
    struct event *input, *output, *answers, *ended, *timer, *look;
    double look_in;                 /* seconds until the next look at what it has read */
    struct exec_task *first, *last; /* in the order in which it got them */
    struct exec_task *by_id[EXEC_PEER_HASH];
    size_t count;       /* tasks */
    size_t open;        /* tasks that are not settled */
    unsigned long jobs; /* jobs it ever got */
    unsigned refused;   /* lines that were no answer */
    const char *broken; /* why it is of no use any more */
    bool retired, closed, term_sent;
    struct exec_peer *next;
};

/* Starts a program. NULL with *end if that fails. */
struct exec_peer *exec_peer_start(const struct exec_program *program,
                                  struct exec_throttle *throttle, struct exec_end *end);

/* Returns how many more jobs it may be handed now: until it listens, one. It must have read that
 * one, or have written a line, before it gets more. */
size_t exec_peer_room(struct exec_peer *peer);

/* Does it still start? One that takes too long is ended. */
bool exec_peer_starts(struct exec_peer *peer);

/* Gives it a task, which it then owns. Returns 0; or -1 without memory, and the task stays the
 * caller's. */
int exec_peer_hand(struct exec_peer *peer, struct exec_task *task);

/* Has it a task of this id? Answers are matched to tasks by id only, so an id may be there once. */
bool exec_peer_has(struct exec_peer *peer, const char *id);

/* Asks it to give up a task, whose job its answer then ends. Without an answer within a second the
 * job is settled here, and the program retires. */
void exec_peer_give_up(struct exec_task *task);

/* Tells it that laterd stops, if it wants to know. */
void exec_peer_tell_stopping(struct exec_task *task);

/* Frees it, but not its tasks. */
void exec_peer_free(struct exec_peer *peer);

void exec_task_free(struct exec_task *task);

/* ---- functions of exec_parallel.c that it calls */

/* The peer has ended and is to be freed. unread: the tasks that it had not read, a list. performed:
 * it had done a job, or we ended it. why: how it ended, and what it printed last. */
void exec_crew_ended(struct exec_peer *peer, struct exec_task *unread, bool performed,
                     const char *why);

#endif
