/* names.c: open addressing, at most half full. */
#include "base/names.h"

#include <stdlib.h>
#include <string.h>

struct later_named {
    const char *name; /* borrowed */
    void *item;       /* NULL: free */
};

/* FNV-1a (Fowler, Noll, Vo). */
static uint32_t names_hash(const char *name)
{
    uint32_t sum = 2166136261U;

    for (; *name; name++)
        sum = (sum ^ (unsigned char)*name) * 16777619U;
    return sum;
}

/* Returns the slot where a name is, or would be. */
static struct later_named *spot(const struct later_names *names, const char *name)
{
    uint32_t at = names_hash(name) & (names->room - 1);

    while (names->slots[at].item && strcmp(names->slots[at].name, name) != 0)
        at = (at + 1) & (names->room - 1);
    return &names->slots[at];
}

void *later_names_find(const struct later_names *names, const char *name)
{
    return names->room ? spot(names, name)->item : NULL;
}

static bool names_grow(struct later_names *names)
{
    uint32_t room = names->room ? names->room * 2 : 16;
    struct later_names wider = { .room = room, .count = names->count };

    wider.slots = calloc(room, sizeof *wider.slots);
    wider.items = wider.slots ? realloc(names->items, room / 2 * sizeof *wider.items) : NULL;
    if (!wider.items) {
        free(wider.slots);
        return false;
    }
    for (uint32_t i = 0; i < names->room; i++) {
        if (names->slots[i].item)
            *spot(&wider, names->slots[i].name) = names->slots[i];
    }
    free(names->slots);
    *names = wider;
    return true;
}

bool later_names_add(struct later_names *names, const char *name, void *item)
{
    if (2 * (names->count + 1) > names->room && !names_grow(names))
        return false;
    *spot(names, name) = (struct later_named){ .name = name, .item = item };
    names->items[names->count++] = item;
    return true;
}

void later_names_sift(struct later_names *names, const char *(*stays)(void *arg, void *item),
                      void *arg)
{
    uint32_t count = names->count;

    names->count = 0;
    if (count > 0)
        memset(names->slots, 0, names->room * sizeof *names->slots);
    for (uint32_t i = 0; i < count; i++) {
        void *item = names->items[i];
        const char *name = stays(arg, item);

        if (!name)
            continue;
        *spot(names, name) = (struct later_named){ .name = name, .item = item };
        names->items[names->count++] = item;
    }
}

void later_names_free(struct later_names *names, void (*free_item)(void *item))
{
    for (uint32_t i = 0; free_item && i < names->count; i++)
        free_item(names->items[i]);
    free(names->items);
    free(names->slots);
    *names = (struct later_names){ 0 };
}
