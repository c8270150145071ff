/* top.c: `later top` in a terminal. */
#include "commands.h"
#include "base/clock.h"
#include "kept.h"
#include "top/frame.h"
#include "top/screen.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INTERVAL     1.0
#define INTERVAL_MIN 0.2
#define EACH         0.01 /* seconds added between two looks for each queue: 100 commands a second */

/* --- drawing --- */

static bool is_utf8(void)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);

        if (value && *value)
            return strcasestr(value, "UTF-8") || strcasestr(value, "UTF8");
    }
    return false;
}

static void begin_view(const struct cli *cli, struct top_view *view)
{
    *view = (struct top_view){ .width = 80,
                               .coloured = cli->coloured,
                               .utf8 = is_utf8(),
                               .sort = TOP_READY,
                               .where = cli->where.shown,
                               .now = later_clock() };
}

/* Draws only the lines that have changed, so that nothing flickers. */
static void draw(const struct top *top, struct top_view *view)
{
    screen_size(&view->width, &view->height);
    view->now = later_clock();
    fputs("\033[H", stdout);
    frame_draw(stdout, top, view);
    fflush(stdout);
}

/* --- keys --- */

static void sort_by(struct top_view *view, int step)
{
    view->sort = (enum top_column)(((int)view->sort + step + TOP_COLUMNS) % TOP_COLUMNS);
    view->reverse = false;
    view->first = 0;
}

static void scroll(struct top_view *view, const struct top *top, int64_t step)
{
    int64_t first = (int64_t)view->first + step, last = (int64_t)top->queue_count;

    view->first = (size_t)(first < 0 ? 0 : first > last ? last : first);
}

/* Returns how many queues a key scrolls by; 0 = it does not scroll. */
static int64_t steps_of(int event, const struct top_view *view, const struct top *top)
{
    int64_t page = (int64_t)frame_rows(top, view);

    return event == SCREEN_UP || event == 'k'     ? -1
           : event == SCREEN_DOWN || event == 'j' ? 1
           : event == SCREEN_PAGE_UP              ? -page
           : event == SCREEN_PAGE_DOWN            ? page
           : event == SCREEN_HOME                 ? -INT32_MAX
           : event == SCREEN_LAST                 ? INT32_MAX
                                                  : 0;
}

/* Returns false if it is time to end. */
static bool top_obey(int event, struct top_view *view, const struct top *top)
{
    switch (event) {
    case 'q':
    case 'Q':
    case SCREEN_END:
        return false;
    case SCREEN_LEFT:
    case SCREEN_RIGHT:
        sort_by(view, event == SCREEN_LEFT ? -1 : 1);
        break;
    case 'r':
        view->reverse = !view->reverse;
        break;
    case ' ':
        view->held = !view->held;
        break;
    default:
        scroll(view, top, steps_of(event, view, top));
        break;
    }
    return true;
}

/* --- the command --- */

static double top_pause_of(const struct top *top, double interval)
{
    return fmax(interval, EACH * (double)top->queue_count);
}

static int top_watch(struct cli *cli, struct top *top, double interval, struct later_error *err)
{
    double looked = later_clock();
    int event = SCREEN_TIME;
    struct screen screen;
    struct top_view view;

    if (screen_open(&screen, err) < 0)
        return -1;
    begin_view(cli, &view);
    view.over = true;
    while (top_obey(event, &view, top)) {
        double left = looked + top_pause_of(top, interval) - later_clock();

        if (left <= 0 && !view.held) {
            struct later_error ignored; /* it is also in top->away */

            top_look(cli, top, &ignored);
            looked = later_clock();
            left = top_pause_of(top, interval);
        }
        draw(top, &view);
        event = screen_wait(&screen, view.held ? interval : left);
    }
    screen_close(&screen);
    return LATER_OK;
}

static int top_once(struct cli *cli, const struct top *top)
{
    struct top_view view;
    const char *columns = getenv("COLUMNS");

    begin_view(cli, &view);
    if (columns && strtol(columns, NULL, 10) >= 40)
        view.width = (size_t)strtol(columns, NULL, 10);
    frame_draw(stdout, top, &view);
    return LATER_OK;
}

static int top_run(struct cli *cli, struct later_error *err)
{
    struct top top = { 0 };
    double interval = INTERVAL;
    int status;

    if (cli->json)
        return later_fail(err, LATER_E_USAGE, "for programs there is `later status --json`");
    if (cli_duration(cli, "interval", &interval, err) < 0)
        return -1;
    cli->kept = kept_new(); /* without memory more is asked */
    if (top_look(cli, &top, err) < 0)
        status = -1;
    else if (args_flag(&cli->args, "once") || !cli->out_terminal)
        status = top_once(cli, &top);
    else
        status = top_watch(cli, &top, fmax(interval, INTERVAL_MIN), err);
    top_free(&top);
    kept_free(cli->kept);
    cli->kept = NULL;
    return status;
}

static const struct args_option options[] = {
    { "interval", 0, "DURATION", "time between two looks (1s)" },
    { "once", 0, NULL, "look once, print and exit, as in a pipe" },
    { 0 },
};

const struct command command_top = {
    .name = "top",
    .usage = "[--once] [--interval DURATION] [Q...]",
    .brief = "Watch queues and daemons in a terminal",
    .more = "Keys: q quits; up and down scroll; left and right choose the column to sort by, r "
            "reverses\n"
            "the order; space freezes the numbers. Looks at no more than 100 queues a second.\n",
    .example = "later top\nlater top --once | head\n",
    .options = options,
    .max = -1,
    .run = top_run,
};
