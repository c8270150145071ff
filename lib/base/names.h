/*
 * names.h: which item has this name? A list, with a hash of it.
 *
 * For lists of thousands that are searched all the time. Names and items belong to the caller, and
 * must not move while the list is used.
 */
#ifndef LATER_NAMES_H
#define LATER_NAMES_H

#include <stdbool.h>
#include <stdint.h>

struct later_named;

/* Zeroed, it is empty. */
struct later_names {
    void **items; /* in the order in which they were added */
    uint32_t count;
    uint32_t room;             /* of the hash */
    struct later_named *slots; /* owned */
};

/* The item of this name, or NULL. */
void *later_names_find(const struct later_names *names, const char *name);

/* Enters a name that is not there yet. item: not NULL. false: no memory. */
bool later_names_add(struct later_names *names, const char *name, void *item);

/* Keeps the items for which stays() returns their name, in their order. It returns NULL for one
 * that goes, which is then the caller's to free, and may free it. */
void later_names_sift(struct later_names *names, const char *(*stays)(void *arg, void *item),
                      void *arg);

/* Frees its memory, and each item by free_item unless that is NULL. It is then empty. */
void later_names_free(struct later_names *names, void (*free_item)(void *item));

#endif
