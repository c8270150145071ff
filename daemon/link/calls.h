/*
 * calls.h: calls of somebody who may be gone before they are answered.
 *
 * A link answers each call, and lives longer than many of those who use it: a configuration's
 * migrator goes at a reload, its calls are still under way.
 */
#ifndef LATERD_CALLS_H
#define LATERD_CALLS_H

#include "link/link.h"

struct calls;

/* The link is borrowed; it may be freed before or after. NULL: no memory. */
struct calls *calls_new(struct link *link);

/* As link_send(). */
int calls_send(struct calls *calls, struct later_command *cmd, later_answer_fn *fn, void *arg);

/* None of them is told of any answer from now on. NULL is fine. */
void calls_free(struct calls *calls);

#endif
