/* grow.c: lists in memory that become longer. */
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

#define FIRST 64 /* items */

bool later_grow(void *list, size_t *room, size_t count, size_t size)
{
    size_t wanted = *room ? 2 * *room : FIRST;
    void *old, *items;

    if (count < *room)
        return true;
    memcpy(&old, list, sizeof old);
    items = reallocarray(old, wanted, size);
    if (!items)
        return false;
    memcpy(list, &items, sizeof items);
    *room = wanted;
    return true;
}
