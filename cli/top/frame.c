/* frame.c: one picture of `later top`. */
#include "top/frame.h"

#include "text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LATE        60.0 /* seconds that a ready job waits, from which on it stands out */
#define NAME_MIN    12
#define HOSTS_SHOWN 4
#define CURVE_MAX   120
#define GAP         3 /* spaces between facts */

/* A frame while it is drawn. */
struct frame {
    FILE *out;
    const struct top *top;
    const struct top_view *view;
    size_t used;  /* characters in this line */
    size_t lines; /* that are complete */
};

/* --- pieces --- */

static size_t characters(const char *text)
{
    size_t count = 0;

    for (; *text; text++)
        count += ((unsigned char)*text & 0xC0) != 0x80;
    return count;
}

/* As much of it as the line has room for, in a colour. */
static void put(struct frame *frame, enum colour colour, const char *text)
{
    size_t room = frame->view->width - frame->used, len = 0, count = 0;

    while (text[len] && (count < room || ((unsigned char)text[len] & 0xC0) == 0x80))
        count += ((unsigned char)text[len++] & 0xC0) != 0x80;
    if (len == 0)
        return;
    if (colour != PLAIN)
        fputs(table_colour(frame->view->coloured, colour), frame->out);
    fwrite(text, 1, len, frame->out);
    if (colour != PLAIN)
        fputs(table_colour(frame->view->coloured, PLAIN), frame->out);
    frame->used += count;
}

static void put_spaces(struct frame *frame, size_t count)
{
    for (; count > 0 && frame->used < frame->view->width; count--) {
        putc(' ', frame->out);
        frame->used++;
    }
}

static void put_right(struct frame *frame, enum colour colour, const char *text, size_t width)
{
    size_t len = characters(text);

    put_spaces(frame, len < width ? width - len : 1);
    put(frame, colour, text);
}

static void end_line(struct frame *frame)
{
    /* A cursor behind the last column stands on it. */
    if (frame->view->over && frame->used < frame->view->width)
        fputs("\033[K", frame->out);
    putc('\n', frame->out);
    frame->used = 0;
    frame->lines++;
}

/* 1234567 as 1,234,567; from ten million on in thousands or millions. */
static char *put_count(char *out, size_t room, uint64_t number)
{
    char digits[24];
    size_t len, at = 0;
    const char *unit = "";

    if (number >= 10000000000) {
        number /= 1000000;
        unit = "M";
    } else if (number >= 10000000) {
        number /= 1000;
        unit = "k";
    }
    len = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, number);
    for (size_t i = 0; i < len && at + 3 < room; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            out[at++] = ',';
        out[at++] = digits[i];
    }
    snprintf(out + at, room - at, "%s", unit);
    return out;
}

static char *put_rate(char *out, size_t room, double rate)
{
    if (rate < 0)
        snprintf(out, room, "-");
    else if (rate < 100)
        snprintf(out, room, "%.1f", rate);
    else
        put_count(out, room, (uint64_t)rate);
    return out;
}

static char *put_age(char *out, size_t room, double seconds)
{
    if (seconds < 0)
        snprintf(out, room, "-");
    else
        text_put_age(out, room, seconds);
    return out;
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
    put(frame, BOLD, "later top");
    if (top->away[0]) {
        snprintf(text, sizeof text, "  %s", top->away);
        put(frame, RED, text);
        end_line(frame);
        if (top->at > 0) {
            put_age(age, sizeof age, frame->view->now - top->at);
            snprintf(text, sizeof text, "numbers from %s, %s old", clock, age);
            put(frame, YELLOW, text);
        }
        end_line(frame);
        return;
    }
    len = strlen(clock) + (frame->view->held ? 6 : 0);
    room = (int)frame->view->width - (int)(frame->used + 2 + 2 + len);
    snprintf(text, sizeof text, "  %.*s", room > 0 ? room : 0, frame->view->where);
    put(frame, DIM, text);
    if (frame->used + len + 2 < frame->view->width)
        put_spaces(frame, frame->view->width - frame->used - len);
    if (frame->view->held)
        put(frame, YELLOW, "held  ");
    put(frame, DIM, clock);
    end_line(frame);
}

static void put_fact(struct frame *frame, const char *name, enum colour colour, const char *value)
{
    size_t width = strlen(name) + 1 + characters(value);

    if (frame->used > 0 && frame->used + GAP + width > frame->view->width)
        end_line(frame);
    put_spaces(frame, frame->used > 0 ? GAP : 0);
    put(frame, DIM, name);
    put_spaces(frame, 1);
    put(frame, colour, value);
}

static void draw_facts(struct frame *frame)
{
    const struct top *top = frame->top;
    struct later_sizes sum = { .oldest_ready = -1 };
    uint64_t workers = 0, hosts = 0;
    char text[48], more[80];

    for (size_t i = 0; i < top->queue_count; i++) {
        const struct later_sizes *sizes = &top->queues[i].sizes;

        sum.ready += sizes->ready;
        sum.reserved += sizes->reserved;
        sum.delayed += sizes->delayed;
        sum.dead += sizes->dead;
        sum.oldest_ready = fmax(sum.oldest_ready, sizes->oldest_ready);
    }
    for (size_t i = 0; i < top->host_count; i++) {
        workers += top->hosts[i].gone ? 0 : top->hosts[i].workers;
        hosts += !top->hosts[i].gone;
    }
    put_fact(frame, "ready", sum.ready ? BOLD : PLAIN, put_count(text, sizeof text, sum.ready));
    put_fact(frame, "oldest", sum.oldest_ready > LATE ? RED : PLAIN,
             put_age(text, sizeof text, sum.oldest_ready));
    put_fact(frame, "running", BOLD, put_count(text, sizeof text, sum.reserved));
    put_fact(frame, "delayed", PLAIN, put_count(text, sizeof text, sum.delayed));
    put_fact(frame, "dead", sum.dead ? RED : PLAIN, put_count(text, sizeof text, sum.dead));
    snprintf(more, sizeof more, "%" PRIu64 " on %" PRIu64 " host%s", workers, hosts,
             hosts == 1 ? "" : "s");
    put_fact(frame, "workers", hosts ? PLAIN : YELLOW, more);
    end_line(frame);
}

/* What was done a second, the latest at the right. */
static void draw_curve(struct frame *frame)
{
    static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
    const struct top *top = frame->top;
    char text[48], more[64];
    double most = 1;
    size_t room, shown;

    put_fact(frame, "in/s", PLAIN, put_rate(text, sizeof text, top->in));
    put_fact(frame, "done/s", BOLD, put_rate(text, sizeof text, top->out));
    put_spaces(frame, GAP);
    room = frame->view->width > frame->used + 16 ? frame->view->width - frame->used - 16 : 0;
    room = room < CURVE_MAX ? room : CURVE_MAX;
    shown = top->rate_count < room ? top->rate_count : room;
    for (size_t i = top->rate_count - shown; i < top->rate_count; i++)
        most = fmax(most, top->rates[i]);
    for (size_t i = top->rate_count - shown; frame->view->utf8 && i < top->rate_count; i++) {
        int level = top->rates[i] > 0 ? 1 + (int)(top->rates[i] / most * 7) : 0;

        put(frame, GREEN, blocks[level]);
    }
    if (shown > 1) {
        snprintf(more, sizeof more, " most %s", put_rate(text, sizeof text, most));
        put(frame, DIM, more);
    }
    end_line(frame);
}

/* --- the queues --- */

static const struct {
    const char *heading;
    size_t width;
} columns[TOP_COLUMNS] = {
    [TOP_QUEUE] = { "QUEUE", 0 },     [TOP_READY] = { "READY", 9 },
    [TOP_RUNNING] = { "RUNNING", 9 }, [TOP_DELAYED] = { "DELAYED", 9 },
    [TOP_DEAD] = { "DEAD", 7 },       [TOP_OLDEST] = { "OLDEST", 8 },
    [TOP_HOSTS] = { "HOSTS", 7 },     [TOP_IN] = { "IN/S", 7 },
    [TOP_OUT] = { "DONE/S", 8 },
};

/* Which columns there is room for; what is left is the name's. */
static size_t columns_shown(const struct top_view *view, size_t *name)
{
    size_t used = 0, shown = 1;

    while (shown < TOP_COLUMNS && used + columns[shown].width + NAME_MIN <= view->width)
        used += columns[shown++].width;
    *name = view->width - used;
    return shown;
}

static double key_of(const struct top_queue *queue, enum top_column column)
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

/* Those that are equal stay in the order of their names. */
static int compare(const void *a, const void *b, void *arg)
{
    const struct top_queue *one = *(const struct top_queue *const *)a;
    const struct top_queue *other = *(const struct top_queue *const *)b;
    const struct top_view *view = arg;
    double x = key_of(one, view->sort), y = key_of(other, view->sort);
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
            put(frame, sorted ? BOLD : DIM, text);
            put_spaces(frame, name > frame->used ? name - frame->used : 0);
        } else {
            put_right(frame, sorted ? BOLD : DIM, text, columns[c].width);
        }
    }
    end_line(frame);
}

static void put_number(struct frame *frame, enum top_column column, enum colour colour,
                       uint64_t number)
{
    char text[32];

    put_right(frame, number ? colour : DIM, put_count(text, sizeof text, number),
              columns[column].width);
}

/* Cut where it is too long, and it shows. */
static void put_name(struct frame *frame, const struct top_queue *queue, size_t width)
{
    bool cut = strlen(queue->name) >= width;
    char name[sizeof queue->name + 4];

    snprintf(name, sizeof name, "%.*s%s", (int)(cut ? width - 2 : width), queue->name,
             !cut                ? ""
             : frame->view->utf8 ? "…"
                                 : "~");
    put(frame, queue->paused ? DIM : PLAIN, name);
    put_spaces(frame, width > frame->used ? width - frame->used : 0);
}

static void put_hosts(struct frame *frame, const struct top_queue *queue, size_t width)
{
    char text[32];

    if (queue->paused || queue->partly)
        put_right(frame, YELLOW, queue->paused ? "paused" : "partly", width);
    else if (queue->served == 0)
        put_right(frame, queue->sizes.ready ? YELLOW : DIM, "nobody", width);
    else
        put_right(frame, PLAIN, put_count(text, sizeof text, (uint64_t)queue->served), width);
}

static void draw_queue(struct frame *frame, const struct top_queue *queue)
{
    const struct later_sizes *sizes = &queue->sizes;
    size_t name, shown = columns_shown(frame->view, &name);
    char text[48];

    put_name(frame, queue, name);
    for (size_t c = 1; c < shown; c++) {
        switch (c) {
        case TOP_READY:
            put_number(frame, c, PLAIN, sizes->ready);
            break;
        case TOP_RUNNING:
            put_number(frame, c, GREEN, sizes->reserved);
            break;
        case TOP_DELAYED:
            put_number(frame, c, PLAIN, sizes->delayed);
            break;
        case TOP_DEAD:
            put_number(frame, c, RED, sizes->dead);
            break;
        case TOP_OLDEST:
            put_right(frame, sizes->oldest_ready > LATE ? RED : PLAIN,
                      put_age(text, sizeof text, sizes->oldest_ready), columns[c].width);
            break;
        case TOP_HOSTS:
            put_hosts(frame, queue, columns[c].width);
            break;
        default:
            put_right(frame, PLAIN, put_rate(text, sizeof text, key_of(queue, c)),
                      columns[c].width);
            break;
        }
    }
    end_line(frame);
}

static void draw_queues(struct frame *frame, struct top_view *view)
{
    const struct top *top = frame->top;
    size_t rows = frame_rows(top, view), last;
    const struct top_queue **order = calloc(top->queue_count + 1, sizeof *order);

    if (!order)
        return;
    for (size_t i = 0; i < top->queue_count; i++)
        order[i] = &top->queues[i];
    qsort_r(order, top->queue_count, sizeof *order, compare, view);
    last = top->queue_count > rows ? top->queue_count - rows : 0;
    view->first = view->first < last ? view->first : last;
    draw_headings(frame);
    for (size_t i = view->first; i < top->queue_count && i < view->first + rows; i++)
        draw_queue(frame, order[i]);
    if (top->queue_count == 0 && top->at > 0) {
        put(frame, DIM, "There is no queue yet: `later push hello` makes one.");
        end_line(frame);
    }
    free(order);
}

/* --- the daemons --- */

static size_t hosts_shown(const struct top *top, const struct top_view *view)
{
    return view->height == 0 || top->host_count < HOSTS_SHOWN ? top->host_count : HOSTS_SHOWN;
}

static void draw_host(struct frame *frame, const struct top_host *host)
{
    char name[96], text[48];

    snprintf(name, sizeof name, "%.24s", host->name);
    put(frame, host->gone ? DIM : PLAIN, name);
    put_spaces(frame, frame->used < 26 ? 26 - frame->used : 1);
    put(frame,
        host->gone       ? RED
        : host->fault[0] ? YELLOW
                         : GREEN,
        host->gone       ? "gone "
        : host->fault[0] ? "fault"
                         : "alive");
    put_right(frame, PLAIN, put_count(text, sizeof text, host->running), 9);
    put_right(frame, PLAIN, put_count(text, sizeof text, host->workers), 9);
    put_right(frame, PLAIN, put_rate(text, sizeof text, host->rate), 9);
    put_right(frame, host->failed ? RED : PLAIN, put_count(text, sizeof text, host->failed), 9);
    put_right(frame, PLAIN, put_age(text, sizeof text, host->up), 9);
    put_spaces(frame, 2);
    put(frame, YELLOW, host->fault);
    end_line(frame);
}

static void draw_hosts(struct frame *frame)
{
    const struct top *top = frame->top;
    char text[80];

    if (top->host_count == 0)
        return;
    snprintf(text, sizeof text, "%-26s%-5s%9s%9s%9s%9s%9s", "HOST", "STATE", "RUNNING", "WORKERS",
             "RATE", "FAILED", "UP");
    end_line(frame);
    put(frame, DIM, text);
    end_line(frame);
    for (size_t i = 0; i < hosts_shown(top, frame->view); i++)
        draw_host(frame, &top->hosts[i]);
}

/* --- all of it --- */

/* How many lines the head has, where they are not too narrow. */
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
    return frame.lines + 1; /* and an empty one */
}

size_t frame_rows(const struct top *top, const struct top_view *view)
{
    size_t hosts = hosts_shown(top, view), others;

    if (view->height == 0)
        return top->queue_count;
    others = head_lines(top, view) + 1 + (hosts ? hosts + 2 : 0) + 1; /* headings; the keys */
    return view->height > others ? view->height - others : 1;
}

/* The keys, and which queues of how many are shown, in the last line. */
static void draw_keys(struct frame *frame)
{
    const struct top_view *view = frame->view;
    size_t rows = frame_rows(frame->top, view), count = frame->top->queue_count;
    size_t to = view->first + rows < count ? view->first + rows : count;
    char text[80] = "";

    while (frame->lines + 1 < view->height)
        end_line(frame);
    if (view->over)
        fputs("\033[K", frame->out);
    if (count > rows)
        snprintf(text, sizeof text, "%zu-%zu of %zu   ", view->first + 1, to, count);
    put(frame, PLAIN, text);
    put(frame, DIM, "q quit   up down scroll   left right sort   r turn round   space hold");
}

void frame_draw(FILE *out, const struct top *top, struct top_view *view)
{
    struct frame frame = { .out = out, .top = top, .view = view };

    draw_title(&frame);
    draw_facts(&frame);
    draw_curve(&frame);
    end_line(&frame);
    draw_queues(&frame, view);
    draw_hosts(&frame);
    if (view->height > 0)
        draw_keys(&frame);
}
