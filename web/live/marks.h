/*
 * marks.h: what happened besides jobs in the last minutes, by `later history --marks`, asked for
 * once for all readers.
 */
#ifndef LATER_WEB_MARKS_H
#define LATER_WEB_MARKS_H

#include "tasks/lines_json.h"
#include "tasks/serve.h"

#include <stdbool.h>
#include <stdio.h>

/* Called once for each question, also if it has no answer. */
typedef void marks_fn(void *arg, bool answered);

/* Zeroed at first. */
struct marks {
    struct lines_json list;
    double asked; /* when; 0 = never, or something was done since */
    bool news;    /* they changed since readers were told */
    marks_fn *fn; /* while an answer is coming */
    void *arg;
};

/* Is it time to ask? now: by later_clock(). */
bool marks_are_due(const struct marks *marks, double now);

/* Asks one that is free. What is known stays if there is no answer. */
void marks_ask(struct marks *marks, struct serve *serve, double now, marks_fn *fn, void *arg);

/* Something was done, which may be a mark: it is asked soon. */
void marks_hurry(struct marks *marks);

/* Writes `"marks":[…],`, the lines of `later history --json --marks`. */
void marks_write(const struct marks *marks, FILE *out);

void marks_free(struct marks *marks);

#endif
