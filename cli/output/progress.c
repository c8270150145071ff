/* progress.c: draws the progress line. */
#include "output/progress.h"

#include "base/clock.h"
#include "text.h"

#include <inttypes.h>
#include <stdio.h>

#define BAR_WIDTH 24
#define PERIOD    0.1 /* seconds */

void progress_begin(struct progress *progress, bool shown, uint64_t total)
{
    *progress = (struct progress){ .shown = shown, .total = total, .begun = later_clock() };
}

static void draw_bar(uint64_t done, uint64_t total)
{
    double part = done < total ? (double)done / (double)total : 1;
    int filled = (int)(part * BAR_WIDTH);

    fprintf(stderr, "[%.*s%*s] %3.0f %%  ", filled, "########################", BAR_WIDTH - filled,
            "", part * 100);
}

/* Begins the line if it is time to draw. Returns whether it is. */
static bool progress_begin_line(struct progress *progress)
{
    double now = progress->shown ? later_clock() : 0;

    if (!progress->shown || now - progress->drawn < PERIOD)
        return false;
    progress->drawn = now;
    putc('\r', stderr);
    return true;
}

static void progress_end_line(const struct progress *progress, uint64_t count)
{
    fprintf(stderr, "%" PRIu64 " jobs  %.0f/s\033[K", count,
            (double)count / (progress->drawn - progress->begun + 0.001));
    fflush(stderr);
}

void progress_show(struct progress *progress, uint64_t count, uint64_t bytes)
{
    char done[32], total[32];

    if (!progress_begin_line(progress))
        return;
    text_put_bytes(done, sizeof done, bytes);
    if (progress->total) {
        draw_bar(bytes, progress->total);
        fprintf(stderr, "%s of %s  ", done, text_put_bytes(total, sizeof total, progress->total));
    } else {
        fprintf(stderr, "%s  ", done);
    }
    progress_end_line(progress, count);
}

void progress_jobs(struct progress *progress, uint64_t count, uint64_t total)
{
    if (!progress_begin_line(progress))
        return;
    if (total)
        draw_bar(count, total);
    progress_end_line(progress, count);
}

void progress_hide(struct progress *progress)
{
    if (!progress->shown || progress->drawn <= 0)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    progress->drawn = 0;
}
