/*
 * exec_peer.h: a long-lived program that does many jobs at once, on the worker's event loop.
 *
 * What it is handed lies in a queue of ours until its standard input takes it. Each line's place in
 * that stream is remembered, so that at the program's end it is known which jobs it had begun to
 * read: those are charged, the others go to the next program.
 *
 * A peer that is retired takes no more jobs: it has done as many as it may, it has said so, or it
 * did not give up a job that it was asked for. When it has nothing left to do, its input is closed;
 * then come TERM and KILL.
 */
#ifndef LATER_JOBS_EXEC_PEER_H
#define LATER_JOBS_EXEC_PEER_H

#include "exec_process.h"

#include <event2/event.h>

struct evbuffer;

/* A job with its program. */
struct exec_task {
    struct later_job *job; /* NULL: settled without its answer, which may still come */
    struct exec_peer *peer;
    struct exec_task *next, *before;
    struct event *patience; /* runs while the program is asked to give it up */
    uint64_t begin;         /* of its line in the peer's stream */
    unsigned tries;         /* programs that ended without having read it */
    bool timed_out;
    char id[];
};

/* A running program. */
struct exec_peer {
    const struct exec_program *program;
    struct exec_process *process;
    struct evbuffer *out; /* not yet written */
    uint64_t queued;      /* bytes that ever came into it */
    struct event *input, *output, *answers, *ended, *timer;
    struct exec_task *first, *last;
    size_t count;       /* tasks */
    size_t open;        /* of these, not settled */
    unsigned long jobs; /* that it was ever handed */
    unsigned refused;   /* lines of its answers */
    const char *broken; /* why it is of no use any more */
    bool retired, closed, term_sent;
    struct exec_peer *next;
};

/* Starts a program. NULL with *end if it cannot be. */
struct exec_peer *exec_peer_start(const struct exec_program *program, struct exec_end *end);

/* Hands it a task, which is the peer's from now on. Returns 0, or -1 without memory: the task is
 * still the caller's. */
int exec_peer_hand(struct exec_peer *peer, struct exec_task *task);

/* Has it a task of this id? Answers have nothing else to tell tasks apart. */
bool exec_peer_has(const struct exec_peer *peer, const char *id);

/* Asks it to give up a task; the answer, or exec_crew_settled() a second later, ends it. */
void exec_peer_give_up(struct exec_task *task);

/* It takes no more. */
void exec_peer_retire(struct exec_peer *peer);

/* Frees it, not its tasks. */
void exec_peer_free(struct exec_peer *peer);

void exec_task_free(struct exec_task *task);

/* ---- what exec_parallel.c does for it */

/* It has ended: these tasks, a list, it had not read. It is to be freed. performed: it had done a
 * job, or was ended by us. why: how it ended, and what it printed last. */
void exec_crew_ended(struct exec_peer *peer, struct exec_task *unread, bool performed,
                     const char *why);

#endif
