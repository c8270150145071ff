/*
 * logbook.h: what a running job logs, from its worker to the keeper, to be kept with the job.
 *
 * The lines are in a file beside the page, `PAGE.value-SLOT.log`, each added by one write. So they
 * outlive a worker that is killed. The first line of an attempt begins the file with the lines that
 * are kept of earlier attempts. When the file is full, only what may still be kept is left in it.
 */
#ifndef LATERD_LOGBOOK_H
#define LATERD_LOGBOOK_H

#include "reservation/slots.h"

#define LOGBOOK_TEXT 1008 /* bytes of a line that are looked at; 1,000 are kept */
#define LOGBOOK_SIZE (LATER_LOG_BYTES + 128) /* of what logbook_read() returns */

struct logbook_line {
    double at; /* UNIX time, of Redis's clock */
    uint32_t attempt;
    const char *level, *text;
};

/* Adds a line to those of a slot that is RUNNING, if any are kept. earlier: what is kept of earlier
 * attempts, as in the job's record (queue/queue.h), or "". Any thread may call it. A line that
 * cannot be written is not kept. */
void logbook_add(struct slots *slots, struct slot *slot, const struct logbook_line *line,
                 const char *earlier, size_t earlier_len);

/* Copies what is to be kept, as in the record, to `json` (room for LOGBOOK_SIZE). Returns its
 * length; 0 if there is nothing, or if a line was being written. */
size_t logbook_read(const struct slots *slots, const struct slot *slot, char *json);

#endif
