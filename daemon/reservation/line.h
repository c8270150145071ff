/*
 * line.h: the line of jobs that wait in `delayed` for a lock or for permits, and who comes next.
 *
 * Input: a lock or a permit was freed, or a job begins to wait. Output: the job that has waited
 * longest is due at once. That takes two calls, since the line is in the slot of the lock and the
 * job is in the slot of its queue: lock_line or permit_line takes the job out of the line, and
 * hasten makes it due.
 *
 * Four rules make sure that no job is forgotten while a lock or a permit is free
 * (tests/faults/model/line.pml shows what happens without each):
 *   - a job enters after its return to `delayed` was answered, not before, so that whoever calls it
 *     finds it there;
 *   - entering and looking for room are one step in Redis;
 *   - whoever frees asks the line; a job that was called, but finds that another was quicker,
 * enters again;
 *   - no question is left open: a worker begins no handler that blocks meanwhile, and if the answer
 *     names a job that is gone (it was cancelled), it asks again.
 * If a process dies or a connection breaks in the middle, a call can be lost. So each second
 * workers ask again about what they know others to wait for, and each job in the line is due by
 * itself after a while.
 */
#ifndef LATERD_LINE_H
#define LATERD_LINE_H

#include "redis/key.h"
#include "link/link.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The lock or permits that jobs wait for; the name is borrowed. */
struct line_key {
    bool lock;
    uint32_t max; /* the number of permits; 1 for a lock */
    const char *name;
};

/* told, which may be NULL, is called with how many wait for a key whenever its line was asked; and
 * with NULL when no question is open any more. */
typedef void line_told_fn(void *arg, const struct line_key *key, size_t waiting);

struct line;

/* link is borrowed; prefix too. NULL: no memory. */
struct line *line_new(struct link *link, const char *prefix, line_told_fn *told, void *arg);
/* Its link must be freed before. NULL is fine. */
void line_free(struct line *line);

/* Makes a question to be asked later, or dropped: it says that this job (queue, id) has gone into
 * `delayed` for `wait` seconds, and asks who comes next. NULL: no memory; then the job comes back
 * only by its own time. */
struct line_question *line_entry(struct line *line, const struct line_key *key, double wait,
                                 const char *queue, const char *id);
void line_ask(struct line_question *question);
void line_drop(struct line_question *question); /* NULL is fine */

/* Asks who comes next. Best effort. */
void line_call_next(struct line *line, const struct line_key *key);

/* Sends what was asked; the caller flushes the link. */
void line_flush(struct line *line);

/* Returns how many questions have an answer that was not acted on yet, or none. */
size_t line_open(const struct line *line);

#endif
