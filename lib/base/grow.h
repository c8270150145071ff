/* grow.h: lists in memory that become longer. */
#ifndef LATER_GROW_H
#define LATER_GROW_H

#include <stdbool.h>
#include <stddef.h>

/* Makes room for one more item, each of `size` bytes. list: the address of the pointer to the
 * items, which belong to the caller; room: for how many there is memory. false: there is none, and
 * all is as before. */
bool later_grow(void *list, size_t *room, size_t count, size_t size);

#endif
