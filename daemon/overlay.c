/* overlay.c: what operators have laid over the configuration. */
#include "overlay.h"

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
    char queue[LATER_QUEUE_MAX + 1];
    char type[LATER_TYPE_MAX + 1];
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

static void overlay_write(struct overlay_row *row, const char *queue, const char *type,
                          double until)
{
    atomic_fetch_add(&row->version, 1);
    snprintf(row->queue, sizeof row->queue, "%s", queue);
    snprintf(row->type, sizeof row->type, "%s", type);
    row->until = until;
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
                                        const char *type)
{
    for (size_t i = 0; i < OVERLAY_MAX; i++) {
        struct overlay_row *row = &overlay->rows[i];

        if (strcmp(row->queue, queue) == 0 && strcmp(row->type, type) == 0)
            return row;
    }
    return NULL;
}

static bool overlay_has(const struct later_reply *heeded, const char *type)
{
    struct later_heeded one;
    const char *paused;
    bool has = false;

    for (size_t i = 0; !has && later_override_heeded(heeded, i, &one); i++)
        has = (paused = later_override_named(one.name)) && strcmp(paused, type) == 0;
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

        if (strcmp(row->queue, queue) == 0 && !overlay_has(heeded, row->type))
            overlay_write(row, "", "", 0);
    }
    for (size_t i = 0; later_override_heeded(heeded, i, &one); i++) {
        const char *type = later_override_named(one.name);
        struct overlay_row *row = type ? overlay_find(overlay, queue, type) : NULL;

        if (type && !row)
            row = overlay_find(overlay, "", "");
        if (row)
            overlay_write(row, queue, type, one.left > 0 ? now + one.left : 0);
        else if (type)
            missed++;
    }
    overlay_count(overlay);
    return missed;
}

/* --- workers read --- */

static bool overlay_row_pauses(const struct overlay_row *row, const char *queue, const char *type,
                               double now)
{
    return strcmp(row->queue, queue) == 0 && config_type_matches(row->type, type) &&
           (row->until <= 0 || row->until > now);
}

bool overlay_pauses(const struct overlay *overlay, const char *queue, const char *type, double now,
                    char name[LATER_TYPE_MAX + 1])
{
    uint32_t used = overlay ? atomic_load_explicit(&overlay->used, memory_order_acquire) : 0;

    for (uint32_t i = 0; i < used; i++) {
        const struct overlay_row *row = &overlay->rows[i];

        for (int tries = 0; tries < TRIES; tries++) {
            uint32_t version = atomic_load(&row->version);
            struct overlay_row copy;

            memcpy(&copy, row, sizeof copy);
            atomic_thread_fence(memory_order_acquire);
            if (version % 2 || version != atomic_load(&row->version))
                continue;
            if (!overlay_row_pauses(&copy, queue, type, now))
                break;
            strcpy(name, copy.type);
            return true;
        }
    }
    return false;
}
