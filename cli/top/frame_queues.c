/* frame_queues.c: the queues in a frame of `later top`. */
#include "top/frame.h"
#include "top/paint.h"

#include <stdlib.h>
#include <string.h>

#define NAME_MIN 12

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

static double frame_queues_key_of(const struct top_queue *queue, enum top_column column)
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
static int frame_queues_compare(const void *a, const void *b, void *arg)
{
    const struct top_queue *one = *(const struct top_queue *const *)a;
    const struct top_queue *other = *(const struct top_queue *const *)b;
    const struct top_view *view = arg;
    double x = frame_queues_key_of(one, view->sort), y = frame_queues_key_of(other, view->sort);
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
static void frame_queues_put_name(struct frame *frame, const struct top_queue *queue, size_t width)
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

static void frame_queues_put_hosts(struct frame *frame, const struct top_queue *queue, size_t width)
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
    double key = frame_queues_key_of(queue, column);
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
        frame_queues_put_hosts(frame, queue, columns[column].width);
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

    frame_queues_put_name(frame, queue, name);
    for (size_t c = 1; c < shown; c++)
        draw_cell(frame, queue, (enum top_column)c);
    paint_end_line(frame);
}

void frame_queues(struct frame *frame, struct top_view *view)
{
    const struct top *top = frame->top;
    size_t rows = frame_rows(top, view), last;
    const struct top_queue **order = calloc(top->queue_count + 1, sizeof *order);

    if (!order)
        return;
    for (size_t i = 0; i < top->queue_count; i++)
        order[i] = &top->queues[i];
    qsort_r(order, top->queue_count, sizeof *order, frame_queues_compare, view);
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
