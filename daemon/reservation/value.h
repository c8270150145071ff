/*
 * value.h: the value of a job that is done, from the end of its handler until it is settled.
 *
 * A short value is in its slot's text. One that is longer than SLOT_TEXT is in a file beside the
 * page, `PAGE.value-SLOT`, written before the slot is FINISHED. So whoever settles the job finds
 * it, even if the worker was killed meanwhile. The files of a page are deleted with it.
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

/* The slot is settled: deletes the value's file, if there is one. */
void value_drop(const struct slots *slots, const struct slot *slot);

/* Deletes the files of a page. */
void value_sweep(const struct slots *slots);

/* Is this the name of such a file? Then copies the name of its page to `page`. */
bool value_is_file(const char *name, char *page, size_t room);

#endif
