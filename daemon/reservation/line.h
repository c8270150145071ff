/*
 * line.h: the line of jobs that wait in `delayed` for a lock or for permits, and who comes next.
 *
 * Comes in: a lock or a permit was freed; a job waits from now on. Goes out: the job that waits
 * longest is due at once. Two calls, since the line is in the slot of the lock and the job in that
 * of its queue: lock_line or permit_line takes it out of the line, hasten has it due.
 *
 * Nobody who waits is forgotten while a lock or a permit is free, by four rules
 * (tests/faults/model/line.pml shows what becomes of it without each):
 *   - a job enters when its return to `delayed` was answered, not before: who calls it finds it
 * there;
 *   - to enter and to look whether there is room is one step in Redis;
 *   - whoever frees asks the line; who was called and did not get it, since another was quicker,
 *     enters again;
 *   - a question is not left unanswered: a worker begins no handler that blocks while one is open,
 *     and one that meets nobody (the job was cancelled) is asked again.
 * A process that dies, or a connection that breaks, in the middle of it can lose a call. So workers
 * ask again each second for what they know others to wait for, and each job in the line is due by
 * itself after a while.
 */
#ifndef LATERD_LINE_H
#define LATERD_LINE_H

#include "redis/key.h"
#include "link/link.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is waited for; the name is borrowed. */
struct line_key {
    bool lock;
    uint32_t max; /* permits; of a lock 1 */
    const char *name;
};

/* told, which may be NULL, gets how many wait for a key, as often as its line was asked; and NULL
 * when no question is open any more. */
typedef void line_told_fn(void *arg, const struct line_key *key, size_t waiting);

struct line;

/* link is borrowed; prefix too. NULL: no memory. */
struct line *line_new(struct link *link, const char *prefix, line_told_fn *told, void *arg);
/* Its link must be freed before. NULL is fine. */
void line_free(struct line *line);

/* A question to be asked later, or dropped: that this job (queue, id) has gone into `delayed` for
 * `wait` seconds, and who comes next. NULL: no memory; then the job's own time must do. */
struct line_question *line_entry(struct line *line, const struct line_key *key, double wait,
                                 const char *queue, const char *id);
void line_ask(struct line_question *question);
void line_drop(struct line_question *question); /* NULL is fine */

/* Who comes next? Best effort. */
void line_call_next(struct line *line, const struct line_key *key);

/* Sends what was asked; the caller flushes the link. */
void line_flush(struct line *line);

/* Questions asked whose answer has not been acted on yet. */
size_t line_open(const struct line *line);

#endif
