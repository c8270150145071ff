/*
 * line.h: the line of jobs that wait in `delayed` for a lock, for permits or for a limit, and who
 * comes next.
 *
 * Input: a lock or a permit was freed, a limit opens, or a job begins to wait. Output: the job that
 * has waited longest is ready. That takes two calls, since the line is in the slot of the lock and
 * the job is in the slot of its queue: lock_line, permit_line or limit_line calls the job, and
 * hasten makes it ready.
 *
 * First come, first served: a line has the time at which each job was ready. A job keeps its place
 * until it has what it waits for, however often it comes in between. Who asks for a lock goes after
 * all that came before; so for a job that was called its place is kept, for a second.
 *
 * Five rules make sure that no job is forgotten while a lock or a permit is free
 * (tests/faults/model/line.pml shows what happens without each):
 *   - a job enters after its return to `delayed` was answered, not before, so that whoever calls it
 *     finds it there;
 *   - entering and looking for room are one step in Redis;
 *   - whoever frees asks the line; a job that was called but is refused enters again;
 *   - no question is left open: a worker begins no handler that blocks meanwhile, and if the answer
 *     names a job that is gone (it was cancelled), it says so and asks again;
 *   - a job that was called, but has to wait for something else, says so.
 * If a process dies or a connection breaks in the middle, a question or a call can be lost. So
 *   - a question without an answer is asked again after a second, twenty times;
 *   - the slot of a job that enters is in use until the job is in the line. If its worker dies
 *     before, its keeper makes it enter (aftermath.c);
 *   - a called job that has not come for a second is called once more by the next question, and
 *     again after a minute;
 *   - each second workers ask about what they know others to wait for, and each job in the line is
 *     due by itself after a while.
 */
#ifndef LATERD_LINE_H
#define LATERD_LINE_H

#include "job/document.h"
#include "link/link.h"
#include "queue/line.h"
#include "reservation/slots.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* told, which may be NULL, is called whenever a line was asked; and with NULL, NULL when no
 * question is open any more. waiter: the job that is in the line since then, and is due by itself
 * at `due`; "" = none. */
typedef void line_told_fn(void *arg, const struct later_line *at,
                          const struct later_line_answer *answer, const char *waiter, double due);

struct line;
struct overlay;

/* link is borrowed; prefix too. NULL: no memory. */
struct line *line_new(struct event_base *base, struct link *link, const char *prefix,
                      line_told_fn *told, void *arg);
/* Its questions go by what this says of limits and permits. Borrowed. */
void line_heed(struct line *line, const struct overlay *overlay);
/* Puts the numbers that are set in the place of the configured ones. */
void line_number(struct later_line *at, const struct overlay *overlay);
/* Its link must be freed before. NULL is fine. */
void line_free(struct line *line);

/* Makes a question to be asked later, or dropped: it says that this job (queue, id) has gone into
 * `delayed` until `due`, and asks who comes next. since: when it was ready, 0: now. Both are by
 * Redis's clock. NULL: no memory; then the job comes back only by its own time. */
struct line_question *line_entry(struct line *line, const struct later_line *at, double due,
                                 double since, const char *queue, const char *id);
/* Asks it, when its job is in `delayed`. The slot, which may be NULL, becomes FREE when the job is
 * in the line, or could not enter it. */
void line_enter(struct line_question *question, struct slot *slot);
void line_drop(struct line_question *question); /* NULL is fine */

/* Asks who comes next. Best effort. */
void line_call_next(struct line *line, const struct later_line *at);
/* The same; this job does not come, if it was called. */
void line_leave(struct line *line, const struct later_line *at, const char *queue, const char *id);

/* `QUEUE ID`, as a job is named in a line. */
typedef char line_waiter[LATER_QUEUE_MAX + LATER_ID_MAX + 2];
void line_name(line_waiter waiter, const char *queue, const char *id);

/* Sends what was asked; the caller flushes the link. */
void line_flush(struct line *line);

/* Returns how many questions have an answer that was not acted on yet, or none. */
size_t line_open(const struct line *line);

/* Returns how many slots are in use because their job is not in the line yet. */
size_t line_entering(const struct line *line);

#endif
