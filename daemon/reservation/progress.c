/* progress.c: the progress of a running job. */
#include "reservation/progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void progress_note(struct slot *slot, double done, double total, const char *text)
{
    uint32_t change = atomic_load_explicit(&slot->progress, memory_order_relaxed);

    atomic_store_explicit(&slot->progress, change | 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    slot->done = done;
    slot->total = total;
    snprintf(slot->note, sizeof slot->note, "%s", text);
    atomic_store_explicit(&slot->progress, (change | 1) + 1, memory_order_release);
}

/* A handler may have written something there that is not a number. */
static double sane(double number)
{
    return isfinite(number) && number >= 0 ? number : 0;
}

bool progress_read(const struct slot *slot, uint32_t told, struct progress *progress)
{
    uint32_t change = atomic_load_explicit(&slot->progress, memory_order_acquire);

    if (change == told || change % 2 == 1)
        return false;
    progress->change = change;
    progress->done = sane(slot->done);
    progress->total = sane(slot->total);
    memcpy(progress->note, slot->note, sizeof progress->note);
    progress->note[SLOT_NOTE] = '\0';
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&slot->progress, memory_order_relaxed) == change;
}

char *progress_text(const struct progress *progress)
{
    char *note = later_document_quote(progress->note, strlen(progress->note)), *text = NULL;

    if (note && asprintf(&text, "\"done\":%.15g,\"total\":%.15g,\"text\":%s}", progress->done,
                         progress->total, note) < 0)
        text = NULL;
    free(note);
    return text;
}
