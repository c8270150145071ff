/*
 * marks.h: what happened besides jobs, in the words of lib's history/marks.h.
 */
#ifndef LATER_CLI_MARKS_H
#define LATER_CLI_MARKS_H

#include "cli.h"
#include "history/marks.h"

/* Notes that a queue was paused just now, for `seconds` (0: until it is resumed), or resumed. The
 * queue is paused all the same if that cannot be noted, so nothing is said then. */
void marks_note_pause(struct cli *cli, const char *queue, const char *type, bool paused,
                      double seconds);

/* The same of numbers that were set for this override (queue/override.h), or unset. */
void marks_note_set(struct cli *cli, const char *name, bool set, double seconds);

/* Prints the marks that reach into the time `from` … `to` (UNIX seconds): a line each. With words
 * on the command line, only the pauses of these queues. Returns 0, or -1 with *err. */
int marks_print(struct cli *cli, double from, double to, struct later_error *err);

#endif
