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

/* Keeps it, 1 to LATER_VALUE_MAX bytes, for a slot that is to be settled as done. 0; or -1 with
 * *err, then there is none. */
int value_keep(struct slots *slots, struct slot *slot, const char *value, size_t len,
               struct later_error *err);

/* The value into `value` (room for LATER_VALUE_MAX); returns its length, 0: there is none, or it is
 * no JSON, since a handler may have written there. */
size_t value_read(const struct slots *slots, const struct slot *slot, char *value);

/* It is settled: its file, if it has one, goes. */
void value_drop(const struct slots *slots, const struct slot *slot);

/* Drops the files of a page. */
void value_sweep(const struct slots *slots);

/* Is this the name of such a file? Then `page` gets that of its page. */
bool value_is_file(const char *name, char *page, size_t room);

#endif
