/* overlay.c: what operators have laid over the configuration. */
#include "overlay.h"

#include "base/uncleared.h"
#include "config/config.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define TRIES 1000 /* to read a row that is being written */

/* A row is whole while its version is even; it is free while it has no queue. */
struct overlay_row {
    _Atomic uint32_t version;
    double until; /* later_clock(); 0: it lasts */
    struct later_numbers numbers;
    char queue[LATER_QUEUE_MAX + 1];
    char name[LATER_OVERRIDE_NAME]; /* as in override.h */
};

struct overlay {
    _Atomic uint32_t used; /* rows up to the last one that is not free */
    struct overlay_row rows[OVERLAY_MAX];
};

struct overlay *overlay_new(void)
{
    struct overlay *overlay =
        mmap(NULL, sizeof *overlay, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (overlay == MAP_FAILED)
        return NULL;
    atomic_init(&overlay->used, 0); /* as all of it is */
    return overlay;
}

void overlay_free(struct overlay *overlay)
{
    if (overlay)
        munmap(overlay, sizeof *overlay);
}

void overlay_seal(struct overlay *overlay)
{
    if (overlay)
        (void)mprotect(overlay, sizeof *overlay, PROT_READ);
}

/* --- the supervisor writes --- */

/* one: NULL: the row becomes free. */
static void overlay_write(struct overlay_row *row, const char *queue,
                          const struct later_heeded *one, double now)
{
    atomic_fetch_add(&row->version, 1);
    snprintf(row->queue, sizeof row->queue, "%s", queue);
    snprintf(row->name, sizeof row->name, "%s", one ? one->name : "");
    row->numbers = one ? one->numbers : (struct later_numbers){ 0 };
    row->until = one && one->left > 0 ? now + one->left : 0;
    atomic_fetch_add(&row->version, 1);
}

static void overlay_count(struct overlay *overlay)
{
    uint32_t used = OVERLAY_MAX;

    while (used > 0 && !overlay->rows[used - 1].queue[0])
        used--;
    atomic_store(&overlay->used, used);
}

static struct overlay_row *overlay_find(struct overlay *overlay, const char *queue,
                                        const char *name)
{
    for (size_t i = 0; i < OVERLAY_MAX; i++) {
        struct overlay_row *row = &overlay->rows[i];

        if (strcmp(row->queue, queue) == 0 && strcmp(row->name, name) == 0)
            return row;
    }
    return NULL;
}

static bool overlay_has(const struct later_reply *heeded, const char *name)
{
    struct later_heeded one;
    bool has = false;

    for (size_t i = 0; !has && later_override_heeded(heeded, i, &one); i++)
        has = strcmp(one.name, name) == 0;
    return has;
}

size_t overlay_put(struct overlay *overlay, const char *queue, const struct later_reply *heeded,
                   double now)
{
    struct later_heeded one;
    uint32_t used = atomic_load(&overlay->used);
    size_t missed = 0;

    for (uint32_t i = 0; i < used; i++) {
        struct overlay_row *row = &overlay->rows[i];

        if (strcmp(row->queue, queue) == 0 && !overlay_has(heeded, row->name))
            overlay_write(row, "", NULL, 0);
    }
    for (size_t i = 0; later_override_heeded(heeded, i, &one); i++) {
        struct overlay_row *row = overlay_find(overlay, queue, one.name);

        if (!row)
            row = overlay_find(overlay, "", "");
        if (row)
            overlay_write(row, queue, &one, now);
        else
            missed++;
    }
    overlay_count(overlay);
    return missed;
}

/* --- workers read --- */

/* Copies a row of this queue that lasts. False: it is not. */
static bool overlay_read(const struct overlay_row *row, const char *queue, double now,
                         struct overlay_row *copy)
{
    for (int tries = 0; tries < TRIES; tries++) {
        uint32_t version = atomic_load(&row->version);

        memcpy(copy, row, sizeof *copy);
        atomic_thread_fence(memory_order_acquire);
        if (version % 2 == 0 && version == atomic_load(&row->version))
            return strcmp(copy->queue, queue) == 0 && (copy->until <= 0 || copy->until > now);
    }
    return false;
}

/* Copies the next row of this queue that lasts, from the *i-th on. False: there is none. */
static bool overlay_next(const struct overlay *overlay, uint32_t *i, const char *queue, double now,
                         struct overlay_row *copy)
{
    uint32_t used = overlay ? atomic_load_explicit(&overlay->used, memory_order_acquire) : 0;

    while (*i < used) {
        if (overlay_read(&overlay->rows[(*i)++], queue, now, copy))
            return true;
    }
    return false;
}

bool overlay_pauses(const struct overlay *overlay, const char *queue, const char *type, double now,
                    char name[LATER_TYPE_MAX + 1])
{
    struct overlay_row row LATER_UNCLEARED; /* most often there is none */

    for (uint32_t i = 0; overlay_next(overlay, &i, queue, now, &row);) {
        const char *paused = later_override_named(row.name);

        if (!paused || !config_type_matches(paused, type))
            continue;
        snprintf(name, LATER_TYPE_MAX + 1, "%s", paused);
        return true;
    }
    return false;
}

bool overlay_numbers(const struct overlay *overlay, enum later_line_for what, const char *name,
                     double now, struct later_numbers *numbers)
{
    struct overlay_row row;
    size_t most = 0;

    for (uint32_t i = 0; overlay_next(overlay, &i, LATER_KEY_LIMITS, now, &row);) {
        size_t covers = later_override_covers(row.name, what, name);

        if (covers > most) {
            most = covers;
            *numbers = row.numbers;
        }
    }
    return most > 0;
}
