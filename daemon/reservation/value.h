/*
 * value.h: the value of a job that is done, from the end of its handler until it is settled; and
 * the checkpoint of one that runs, from when it was left until the job is settled.
 *
 * A checkpoint is in a file beside the page, `PAGE.value-SLOT.at`, which is replaced at once, so a
 * reader always finds a whole one. A short value is in its slot's text. One that is longer than
 * SLOT_TEXT is in a file beside the page, `PAGE.value-SLOT`, written before the slot is FINISHED.
 * So whoever settles the job finds it, even if the worker was killed meanwhile. What the job has
 * logged is in a third file (logbook.h). The files of a page are deleted with it.
 */
#ifndef LATERD_VALUE_H
#define LATERD_VALUE_H

#include "reservation/slots.h"

/* Keeps a value of 1 to LATER_VALUE_MAX bytes for a slot that is to be settled as done. Returns 0,
 * or -1 with *err; then there is none. */
int value_keep(struct slots *slots, struct slot *slot, const char *value, size_t len,
               struct later_error *err);

/* Copies the value to `value` (room for LATER_VALUE_MAX). Returns its length; 0 if there is none,
 * or if it is not JSON, since a handler may have written there. */
size_t value_read(const struct slots *slots, const struct slot *slot, char *value);

/* Keeps a checkpoint of 1 to LATER_VALUE_MAX bytes for a slot that is RUNNING, in the place of the
 * last one. Returns 0, or -1 with *err; then the last one stays. */
int value_keep_checkpoint(struct slots *slots, struct slot *slot, const char *json, size_t len,
                          struct later_error *err);

/* Copies the checkpoint that the slot's job has left in this attempt. Returns as above. */
size_t value_read_checkpoint(const struct slots *slots, const struct slot *slot, char *json);

/* --- one of a slot's files, for logbook.h --- */

#define VALUE_LOG ".log"

/* Add bytes at its end; or replace it at once, so that a reader finds the old or the new one.
 * Return 0, or -1 with *err. */
int value_append(struct slots *slots, const struct slot *slot, const char *kind, const char *bytes,
                 size_t len, struct later_error *err);
int value_replace(struct slots *slots, const struct slot *slot, const char *kind, const char *bytes,
                  size_t len, struct later_error *err);

/* Reads at most `len` bytes of it, and returns how many there are. A handler may have put something
 * in its place, such as a fifo. */
size_t value_read_file(const struct slots *slots, const struct slot *slot, const char *kind,
                       size_t len, char *value);

/* The slot is settled: deletes its files, if there are any. */
void value_drop(const struct slots *slots, const struct slot *slot);

/* Deletes all files of a page. */
void value_sweep(const struct slots *slots);

/* Is this the name of such a file? Then copies the name of its page to `page`. */
bool value_is_file(const char *name, char *page, size_t room);

#endif
