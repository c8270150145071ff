/*
 * flow_plan.h: the jobs of a flow before they are pushed: does each wait for something that can
 * happen? Pure.
 *
 * It finds steps of one name, steps that nobody has, too many jobs that wait for one step, and
 * circles. It keeps names only, so a plan of a million jobs takes some hundred bytes for each.
 */
#ifndef LATER_FLOW_PLAN_H
#define LATER_FLOW_PLAN_H

#include "job/document.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LATER_WAITERS_MAX 100 /* jobs that wait for a step */
#define LATER_AFTER_SIZE  (LATER_AFTER_MAX * (LATER_STEP_MAX + 1))

/* What a job document says of how it is tied to a flow, in members `flow`, `step`, `after`, `when`.
 */
struct later_flow_tie {
    char flow[LATER_STEP_MAX + 1]; /* "" = not said */
    char step[LATER_STEP_MAX + 1]; /* "" = none */
    char after[LATER_AFTER_SIZE];  /* with commas between, or "*"; "" = it waits for nothing */
    const char *when;              /* static; "done" if not said */
};

/* Reads them from a document. Returns 0, or -1 with *err (LATER_E_DATA), which names the member. */
int later_flow_tie(struct later_flow_tie *tie, const char *document, size_t len,
                   struct later_error *err);

struct later_flow_plan;

/* NULL: no memory. */
struct later_flow_plan *later_flow_plan_new(void);

/* Adds a job; its names are copied. line: its line in a file, for messages. Returns 0, or -1 with
 * *err: LATER_E_DATA if its step exists, LATER_E_SYSTEM without memory. */
int later_flow_plan_add(struct later_flow_plan *plan, const struct later_flow_tie *tie,
                        uint64_t line, struct later_error *err);

/* Looks at the whole. open: steps that nobody has may come later. Returns 0, or -1 with *err
 * (LATER_E_DATA), which names the lines: an unknown step, more than LATER_WAITERS_MAX jobs that
 * wait for one, or a circle, step by step. */
int later_flow_plan_check(struct later_flow_plan *plan, bool open, struct later_error *err);

/* NULL is fine. */
void later_flow_plan_free(struct later_flow_plan *plan);

#endif
