/*
 * names.h: which number a name has: a hash of names that only grows.
 *
 * For lists of thousands that are searched all the time. The names stay the caller's, who is asked
 * for them by number.
 */
#ifndef LATER_NAMES_H
#define LATER_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#define LATER_NAMES_NONE UINT32_MAX

/* The name that has this number. */
typedef const char *later_name_fn(const void *arg, uint32_t number);

/* Zeroed, but for name and arg, there are none. */
struct later_names {
    later_name_fn *name;
    const void *arg;
    uint32_t *slots; /* owned: number + 1; 0 = free */
    uint32_t room, count;
};

/* The number of a name, or LATER_NAMES_NONE. */
uint32_t later_names_find(const struct later_names *names, const char *name);

/* Enters a number whose name is not there yet. false: no memory. */
bool later_names_add(struct later_names *names, uint32_t number);

/* Frees what it holds; it is empty then. */
void later_names_free(struct later_names *names);

#endif
