/*
 * line.h: the lines of jobs that wait for a lock, a permit or a limit: encoders and decoders like
 * queue.h; the keys are not a queue's. A job in a line is in `delayed`. It is called when its turn
 * has come; then its place is kept for a second. What a limit asks of a job is here, too, since it
 * goes by its line; limits for all others are in stock.h.
 */
#ifndef LATER_LINE_H
#define LATER_LINE_H

#include "job/document.h"
#include "redis/command.h"
#include "redis/key.h"
#include "redis/reply.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What jobs wait for in a line. The name is borrowed and valid (later_key_name_valid). */
struct later_line {
    enum later_line_for what;
    uint32_t max; /* permits; of a limit, how often. 1 for a lock */
    double per;   /* a limit's seconds */
    bool sliding; /* its window */
    const char *name;
};

/* The name of a limit that counts each value of a member by itself: `base` and the value; if that
 * is too long, its digest. 1 … LATER_LOCK_MAX characters. */
void later_line_named(char name[LATER_LOCK_MAX + 1], const char *base, const char *value);

/* A line as a job's record names it: one of LATER_LINE_KINDS (lock, permit, limit by a fixed or a
 * sliding window), a space, its name. */
#define LATER_LINE_KINDS "lpfs"
#define LATER_LINE_TEXT  (LATER_LOCK_MAX + 3)
void later_line_text(char text[LATER_LINE_TEXT], const struct later_line *line);

/* Reads that, for a line that nothing limits any more: so far as others do not take it, about a
 * hundred jobs are called at a time. Its name is borrowed from text. False: it is none. */
bool later_line_unlimited(const char *text, struct later_line *line);

/* A job (waiter: queue, a space, id; "" = none) enters the line, or keeps its place there. due:
 * when it is due in `delayed`, exactly; 0: it was called, but does not come. since: when it was
 * ready, which is its place; 0: now. Asks which jobs come
 * next, and calls them. LATER_SCRIPT_LOCK_LINE, PERMIT_LINE or LIMIT_LINE. */
void later_line_ask(struct later_command *cmd, const char *prefix, const struct later_line *line,
                    double due, double since, const char *waiter);

struct later_line_answer {
    size_t waiting; /* how many wait and were not called */
    double opens;   /* seconds until a limit opens; 0: now, or it is no limit */
    size_t called;  /* how many are called */
};
void later_line_answer(const struct later_reply *reply, struct later_line_answer *answer);

/* A job that is called, borrowed from the reply. */
struct later_called {
    const char *waiter;
    double due, since; /* when it is due in `delayed`; its place */
};
void later_line_called(const struct later_reply *reply, size_t i, struct later_called *job);

/* Makes a called job ready, if it still waits in `delayed` until `due`. The answer is 0 if no place
 * need be kept for it. LATER_SCRIPT_HASTEN. */
void later_line_hasten(struct later_command *cmd, const struct later_keys *keys,
                       const struct later_called *job, const char *id);

/* Jobs of one queue that are in a line look for themselves later: each that is due in `delayed` at
 * `due` is due at `later`. At most LATER_BATCH_MAX. The answer is how many did.
 * LATER_SCRIPT_PUT_OFF. */
struct later_put_off {
    const char *id;
    double due, later;
};
void later_line_put_off(struct later_command *cmd, const struct later_keys *keys,
                        const struct later_put_off *jobs, size_t count);

/* May these jobs begin now, by the limit? `count` waiters follow (1 … LATER_LIMIT_MANY), each as a
 * text. LATER_SCRIPT_LIMIT_TAKE. */
#define LATER_LIMIT_MANY 100
void later_limit_take(struct later_command *cmd, const char *prefix, const struct later_line *line,
                      size_t count);

struct later_limit_answer {
    double at;      /* when it was counted, for the next two */
    size_t waiting; /* how many wait, if it was counted */
    double opens;   /* seconds until one more may begin */
    int64_t behind; /* how many came after it into the line; -1: it was counted, or is not there */
};
/* Was the n-th of them (from 0) counted? */
bool later_limit_taken(const struct later_reply *reply, size_t n,
                       struct later_limit_answer *answer);

/* It was counted by a sliding window at `at`, and has begun. LATER_SCRIPT_LIMIT_BEGUN. */
void later_limit_begun(struct later_command *cmd, const char *prefix, const struct later_line *line,
                       double at);

/* It was counted, but does not begin. LATER_SCRIPT_LIMIT_FREE. */
void later_limit_free(struct later_command *cmd, const char *prefix, const struct later_line *line,
                      double at);

#endif
