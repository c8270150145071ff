/*
 * push_item.h: a job to push, in the form that is sent. Callers of the library fill struct
 * later_new_job (later/client.h) instead. Pure.
 */
#ifndef LATER_PUSH_ITEM_H
#define LATER_PUSH_ITEM_H

#include "later/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One job. Zeroed, it has no options. Pointers are borrowed. */
struct later_push_item {
    const char *id; /* NULL: none of its own yet */
    const char *document;
    size_t document_len;
    int32_t priority;   /* -100 … 100 */
    char group[64 + 1]; /* its document's `group`; "" = none */
    /* As in struct later_new_job; 0 = not said. */
    /* @options line,item: {field}; */
    double in;
    double at;
    double expires_in;
    double unique_for;
    bool replace;
    bool again;
    double debounce;
    double max_wait;
    double throttle;
    /* @end */
    bool has_expires_at; /* its document has that already */
    uint64_t bits;       /* random, for the number of its call; 0 = not drawn yet */
};

/* May these members be used together? Returns 0, or -1 with *err (LATER_E_DATA), which names the
 * members. */
int later_push_check(const struct later_push_item *item, struct later_error *err);

#endif
