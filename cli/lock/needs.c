/* needs.c: what the daemons that are alive have in their configuration. */
#include "lock/needs.h"

#include "config/config.h"
#include "text.h"

#include <string.h>

#define ALL_QUEUES "queue:" /* the permits of a queue, or of the queues of a pattern */

/* What ends in : or = goes on. Returns how much of the name the entry says, 0: it is for others. */
static size_t needs_covers(const json_t *need, const char *kind, const char *name)
{
    const char *base = text_member(need, "name");
    size_t len = strlen(base);

    if (!len || strcmp(text_member(need, "kind"), kind) != 0 || strncmp(base, name, len) != 0)
        return 0;
    if (strcmp(base, ALL_QUEUES) == 0)
        return name[len] ? config_type_matches(text_member(need, "queue"), name + len) : 0;
    if (!name[len])
        return SIZE_MAX;
    return base[len - 1] == ':' || base[len - 1] == '=' ? len : 0;
}

const json_t *needs_find(const struct served *served, const char *kind, const char *name)
{
    const json_t *found = NULL, *need;
    size_t most = 0, n;

    for (size_t i = 0; i < served_count(served); i++) {
        json_array_foreach(json_object_get(served_alive(served, i), "needs"), n, need)
        {
            size_t covers = needs_covers(need, kind, name);

            if (covers > most) {
                most = covers;
                found = need;
            }
        }
    }
    return found;
}
