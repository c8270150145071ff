/* frame.c: one frame of `later top`. */
#include "top/frame.h"

#include "sizes.h"
#include "text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HOSTS_SHOWN 4
#define CURVE_MAX   120
#define GAP         3 /* spaces between facts */
#define NAME_MIN    12

/* --- the queues --- */

enum shown_as { AS_NAME, AS_COUNT, AS_AGE, AS_HOSTS, AS_RATE };

static const struct {
    const char *heading;
    size_t width;
    enum shown_as as;
    enum colour colour; /* of a count other than 0 */
} columns[TOP_COLUMNS] = {
    [TOP_QUEUE] = { "QUEUE", 0, AS_NAME, PLAIN },
    [TOP_READY] = { "READY", 9, AS_COUNT, PLAIN },
    [TOP_RUNNING] = { "RUNNING", 9, AS_COUNT, GREEN },
    [TOP_DELAYED] = { "DELAYED", 9, AS_COUNT, PLAIN },
    [TOP_DEAD] = { "DEAD", 7, AS_COUNT, RED },
    [TOP_OLDEST] = { "OLDEST", 8, AS_AGE, PLAIN },
    [TOP_HOSTS] = { "HOSTS", 7, AS_HOSTS, PLAIN },
    [TOP_IN] = { "IN/S", 7, AS_RATE, PLAIN },
    [TOP_OUT] = { "DONE/S", 8, AS_RATE, PLAIN },
};

/* Returns which columns fit. The name gets the rest of the width. */
static size_t columns_shown(const struct top_view *view, size_t *name)
{
    size_t used = 0, shown = 1;

    while (shown < TOP_COLUMNS && used + columns[shown].width + NAME_MIN <= view->width)
        used += columns[shown++].width;
    *name = view->width - used;
    return shown;
}

static double frame_key_of(const struct top_queue *queue, enum top_column column)
{
    const struct later_sizes *sizes = &queue->sizes;

    switch (column) {
    case TOP_READY:
        return (double)sizes->ready;
    case TOP_RUNNING:
        return (double)sizes->reserved;
    case TOP_DELAYED:
        return (double)sizes->delayed;
    case TOP_DEAD:
        return (double)sizes->dead;
    case TOP_OLDEST:
        return sizes->oldest_ready;
    case TOP_HOSTS:
        return queue->served;
    case TOP_IN:
        return queue->in;
    case TOP_OUT:
        return queue->out;
    default:
        return 0;
    }
}

/* Equal queues stay in the order of their names. */
static int frame_compare(const void *a, const void *b, void *arg)
{
    const struct top_queue *one = *(const struct top_queue *const *)a;
    const struct top_queue *other = *(const struct top_queue *const *)b;
    const struct top_view *view = arg;
    double x = frame_key_of(one, view->sort), y = frame_key_of(other, view->sort);
    int order = x < y ? 1 : x > y ? -1 : 0, names = strcmp(one->name, other->name);

    if (view->sort == TOP_QUEUE)
        return view->reverse ? -names : names;
    return order == 0 ? names : view->reverse ? -order : order;
}

static void draw_headings(struct frame *frame)
{
    size_t name, shown = columns_shown(frame->view, &name);

    for (size_t c = 0; c < shown; c++) {
        bool sorted = c == frame->view->sort;
        char text[32];

        snprintf(text, sizeof text, "%s%s", sorted ? frame->view->reverse ? "^" : "v" : "",
                 columns[c].heading);
        if (c == TOP_QUEUE) {
            paint(frame, sorted ? BOLD : DIM, text);
            paint_spaces(frame, name > frame->used ? name - frame->used : 0);
        } else {
            paint_right(frame, sorted ? BOLD : DIM, text, columns[c].width);
        }
    }
    paint_end_line(frame);
}

/* A name that is too long is cut visibly. */
static void frame_put_name(struct frame *frame, const struct top_queue *queue, size_t width)
{
    bool cut = strlen(queue->name) >= width;
    char name[sizeof queue->name + 4];

    snprintf(name, sizeof name, "%.*s%s", (int)(cut ? width - 2 : width), queue->name,
             !cut                ? ""
             : frame->view->utf8 ? "…"
                                 : "~");
    paint(frame, queue->paused ? DIM : PLAIN, name);
    paint_spaces(frame, width > frame->used ? width - frame->used : 0);
}

static void frame_put_hosts(struct frame *frame, const struct top_queue *queue, size_t width)
{
    char text[32];

    if (queue->paused || queue->partly)
        paint_right(frame, YELLOW, queue->paused ? "paused" : "partly", width);
    else if (queue->served == 0)
        paint_right(frame, queue->sizes.ready ? YELLOW : DIM, "nobody", width);
    else
        paint_right(frame, PLAIN, paint_count(text, sizeof text, (uint64_t)queue->served), width);
}

static void draw_cell(struct frame *frame, const struct top_queue *queue, enum top_column column)
{
    double key = frame_key_of(queue, column);
    enum colour colour = columns[column].colour;
    char text[48] = "";

    switch (columns[column].as) {
    case AS_NAME:
        break;
    case AS_COUNT:
        colour = key > 0 ? colour : DIM;
        paint_count(text, sizeof text, (uint64_t)key);
        break;
    case AS_AGE:
        colour = key > LATE ? RED : PLAIN;
        paint_age(text, sizeof text, key);
        break;
    case AS_HOSTS:
        frame_put_hosts(frame, queue, columns[column].width);
        return;
    case AS_RATE:
        paint_rate(text, sizeof text, key);
        break;
    }
    paint_right(frame, colour, text, columns[column].width);
}

static void draw_queue(struct frame *frame, const struct top_queue *queue)
{
    size_t name, shown = columns_shown(frame->view, &name);

    frame_put_name(frame, queue, name);
    for (size_t c = 1; c < shown; c++)
        draw_cell(frame, queue, (enum top_column)c);
    paint_end_line(frame);
}

/* Draws the table of queues, and moves view->first into its bounds. */
static void frame_queues(struct frame *frame, struct top_view *view)
{
    const struct top *top = frame->top;
    size_t rows = frame_rows(top, view), last;
    const struct top_queue **order = calloc(top->queue_count + 1, sizeof *order);

    if (!order)
        return;
    for (size_t i = 0; i < top->queue_count; i++)
        order[i] = &top->queues[i];
    qsort_r(order, top->queue_count, sizeof *order, frame_compare, view);
    last = top->queue_count > rows ? top->queue_count - rows : 0;
    view->first = view->first < last ? view->first : last;
    draw_headings(frame);
    for (size_t i = view->first; i < top->queue_count && i < view->first + rows; i++)
        draw_queue(frame, order[i]);
    if (top->queue_count == 0 && top->at > 0) {
        paint(frame, DIM, "There is no queue yet: `later push hello` makes one.");
        paint_end_line(frame);
    }
    free(order);
}

/* --- the head --- */

static void draw_title(struct frame *frame)
{
    const struct top *top = frame->top;
    char text[700], clock[32] = "", age[32];
    struct tm tm;
    size_t len;
    int room;

    if (top->at > 0 && localtime_r(&top->clock, &tm))
        strftime(clock, sizeof clock, "%H:%M:%S", &tm);
    paint(frame, BOLD, "later top");
    if (top->away[0]) {
        snprintf(text, sizeof text, "  %s", top->away);
        paint(frame, RED, text);
        paint_end_line(frame);
        if (top->at > 0) {
            paint_age(age, sizeof age, frame->view->now - top->at);
            snprintf(text, sizeof text, "numbers from %s, %s old", clock, age);
            paint(frame, YELLOW, text);
        }
        paint_end_line(frame);
        return;
    }
    len = strlen(clock) + (frame->view->held ? 6 : 0);
    room = (int)frame->view->width - (int)(frame->used + 2 + 2 + len);
    snprintf(text, sizeof text, "  %.*s", room > 0 ? room : 0, frame->view->where);
    paint(frame, DIM, text);
    if (frame->used + len + 2 < frame->view->width)
        paint_spaces(frame, frame->view->width - frame->used - len);
    if (frame->view->held)
        paint(frame, YELLOW, "held  ");
    paint(frame, DIM, clock);
    paint_end_line(frame);
}

static void put_fact(struct frame *frame, const char *name, enum colour colour, const char *value)
{
    size_t width = strlen(name) + 1 + text_width(value);

    if (frame->used > 0 && frame->used + GAP + width > frame->view->width)
        paint_end_line(frame);
    paint_spaces(frame, frame->used > 0 ? GAP : 0);
    paint(frame, DIM, name);
    paint_spaces(frame, 1);
    paint(frame, colour, value);
}

static void draw_facts(struct frame *frame)
{
    const struct top *top = frame->top;
    struct later_sizes sum = { .oldest_ready = -1 };
    uint64_t workers = 0, hosts = 0;
    char text[48], more[80];

    for (size_t i = 0; i < top->queue_count; i++)
        sizes_add(&sum, &top->queues[i].sizes);
    for (size_t i = 0; i < top->host_count; i++) {
        workers += top->hosts[i].gone ? 0 : top->hosts[i].workers;
        hosts += !top->hosts[i].gone;
    }
    put_fact(frame, "ready", sum.ready ? BOLD : PLAIN, paint_count(text, sizeof text, sum.ready));
    put_fact(frame, "oldest", sum.oldest_ready > LATE ? RED : PLAIN,
             paint_age(text, sizeof text, sum.oldest_ready));
    put_fact(frame, "running", BOLD, paint_count(text, sizeof text, sum.reserved));
    put_fact(frame, "delayed", PLAIN, paint_count(text, sizeof text, sum.delayed));
    put_fact(frame, "dead", sum.dead ? RED : PLAIN, paint_count(text, sizeof text, sum.dead));
    snprintf(more, sizeof more, "%" PRIu64 " on %" PRIu64 " host%s", workers, hosts,
             hosts == 1 ? "" : "s");
    put_fact(frame, "workers", hosts ? PLAIN : YELLOW, more);
    paint_end_line(frame);
}

/* Draws the rate of done jobs, the latest at the right. */
static void draw_curve(struct frame *frame)
{
    static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
    const struct top *top = frame->top;
    char text[48], more[64];
    double most = 1;
    size_t room, shown;

    put_fact(frame, "in/s", PLAIN, paint_rate(text, sizeof text, top->in));
    put_fact(frame, "done/s", BOLD, paint_rate(text, sizeof text, top->out));
    paint_spaces(frame, GAP);
    room = frame->view->width > frame->used + 16 ? frame->view->width - frame->used - 16 : 0;
    room = room < CURVE_MAX ? room : CURVE_MAX;
    shown = top->rate_count < room ? top->rate_count : room;
    for (size_t i = top->rate_count - shown; i < top->rate_count; i++)
        most = fmax(most, top->rates[i]);
    for (size_t i = top->rate_count - shown; frame->view->utf8 && i < top->rate_count; i++) {
        int level = top->rates[i] > 0 ? 1 + (int)(top->rates[i] / most * 7) : 0;

        paint(frame, GREEN, blocks[level]);
    }
    if (shown > 1) {
        snprintf(more, sizeof more, " most %s", paint_rate(text, sizeof text, most));
        paint(frame, DIM, more);
    }
    paint_end_line(frame);
}

/* --- the daemons --- */

static size_t hosts_shown(const struct top *top, const struct top_view *view)
{
    return view->height == 0 || top->host_count < HOSTS_SHOWN ? top->host_count : HOSTS_SHOWN;
}

/* Of a host that is gone, only what it has done is still true. */
static void draw_now(struct frame *frame, const struct host *host, const char *text)
{
    paint_right(frame, PLAIN, host->gone ? "-" : text, 9);
}

static void draw_host(struct frame *frame, const struct host *host)
{
    char name[96], text[48];

    snprintf(name, sizeof name, "%.24s", host->name);
    paint(frame, host->gone ? DIM : PLAIN, name);
    paint_spaces(frame, frame->used < 26 ? 26 - frame->used : 1);
    paint(frame,
          host->gone       ? RED
          : host->fault[0] ? YELLOW
                           : GREEN,
          host->gone       ? "gone "
          : host->fault[0] ? "fault"
                           : "alive");
    draw_now(frame, host, paint_count(text, sizeof text, host->running));
    draw_now(frame, host, paint_count(text, sizeof text, host->workers));
    draw_now(frame, host, paint_rate(text, sizeof text, host->rate));
    paint_right(frame, host->failed ? RED : PLAIN, paint_count(text, sizeof text, host->failed), 9);
    draw_now(frame, host, paint_age(text, sizeof text, host->up));
    paint_spaces(frame, 2);
    paint(frame, YELLOW, host->fault);
    paint_end_line(frame);
}

static void draw_hosts(struct frame *frame)
{
    const struct top *top = frame->top;
    char text[80];

    if (top->host_count == 0)
        return;
    snprintf(text, sizeof text, "%-26s%-5s%9s%9s%9s%9s%9s", "HOST", "STATE", "RUNNING", "WORKERS",
             "RATE", "FAILED", "UP");
    paint_end_line(frame);
    paint(frame, DIM, text);
    paint_end_line(frame);
    for (size_t i = 0; i < hosts_shown(top, frame->view); i++)
        draw_host(frame, &top->hosts[i]);
}

/* --- the whole frame --- */

/* Returns how many lines the head has, if lines had any width. */
static size_t head_lines(const struct top *top, const struct top_view *view)
{
    char *text = NULL;
    size_t len;
    struct frame frame = { .out = open_memstream(&text, &len), .top = top, .view = view };

    if (!frame.out)
        return 4;
    draw_title(&frame);
    draw_facts(&frame);
    draw_curve(&frame);
    fclose(frame.out);
    free(text);
    return frame.lines + 1; /* and an empty line */
}

size_t frame_rows(const struct top *top, const struct top_view *view)
{
    size_t hosts = hosts_shown(top, view), others;

    if (view->height == 0)
        return top->queue_count;
    others = head_lines(top, view) + 1 + (hosts ? hosts + 2 : 0) + 1; /* headings and the keys */
    return view->height > others ? view->height - others : 1;
}

/* Draws the last line: the keys, and which queues of how many are shown. */
static void draw_keys(struct frame *frame)
{
    const struct top_view *view = frame->view;
    size_t rows = frame_rows(frame->top, view), count = frame->top->queue_count;
    size_t to = view->first + rows < count ? view->first + rows : count;
    char text[80] = "";

    while (frame->lines + 1 < view->height)
        paint_end_line(frame);
    if (view->over)
        fputs("\033[K", frame->out);
    if (count > rows)
        snprintf(text, sizeof text, "%zu-%zu of %zu   ", view->first + 1, to, count);
    paint(frame, PLAIN, text);
    paint(frame, DIM, "q quit   up down scroll   left right sort   r reverse   space hold");
}

void frame_draw(FILE *out, const struct top *top, struct top_view *view)
{
    struct frame frame = { .out = out, .top = top, .view = view };

    draw_title(&frame);
    draw_facts(&frame);
    draw_curve(&frame);
    paint_end_line(&frame);
    frame_queues(&frame, view);
    draw_hosts(&frame);
    if (view->height > 0)
        draw_keys(&frame);
}
