/*
 * document_line.h: a line of a file of jobs, as `later push --file` takes it and `later export`
 * writes it. It has one of two forms:
 *
 *     {"type":"mail.send","payload":…,"queue":"mail","at":1767225600}
 * is a job document, kept as it stands. It may also say how it is to be pushed: queue, in, at,
 * unique_for, debounce, max_wait, throttle, again. `later push --flow` also takes flow, step,
 * after, when (flow_plan.h).
 *
 *     {"queue":"mail","id":"x","at":1767225600,"priority":3,"document":{"type":"mail.send",…}}
 * has the document's own bytes as the value of `document`; or, if they cannot be part of a line, in
 * base64 (RFC 4648, section 4) as the value of `document_base64`: if they are not a JSON object,
 * have a line end between two members, or are nested as deep as a document may be. Beside it are
 * only the members above, id and priority.
 */
#ifndef LATER_DOCUMENT_LINE_H
#define LATER_DOCUMENT_LINE_H

#include "job/document.h"
#include "job/push_item.h"

/* The most bytes of a line whose document has at most `max`. */
#define LATER_LINE_ROOM(max) ((max) / 3 * 4 + 1024)

struct later_line {
    struct later_push_item item; /* borrows the line, and what follows */
    char *owned;
    char id[LATER_ID_MAX + 1];
    char queue[LATER_QUEUE_MAX + 1]; /* "" = none */
    bool tied;                       /* its document waits for steps of a flow, or names a flow */
};

/* Reads a line, which *line borrows; max: most bytes of its document. Returns 0, and the caller
 * frees *line by later_line_free(); or -1 with *err as later_document_parse(). It also refuses
 * members that would be lost: a document that is a string, and a `state`, as `later peek --json`
 * prints them, and unknown members beside a document. */
int later_line_parse(struct later_line *line, const char *bytes, size_t len, size_t max,
                     struct later_error *err);
void later_line_free(struct later_line *line);

/* Writes a line of the second form, without a newline: the document, the queue, and the item's id,
 * at, unique_for, throttle, again and priority, if they are set. Returns malloc'ed bytes
 * (NUL-terminated beyond *len) for the caller to free; or NULL with *err: LATER_E_SYSTEM without
 * memory, LATER_E_DATA if no line of this job could be pushed. */
char *later_line_build(const struct later_line *line, size_t *len, struct later_error *err);

#endif
