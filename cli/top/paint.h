/*
 * paint.h: how `later top` is shown; paints the lines of a frame, piece by piece.
 */
#ifndef LATER_CLI_TOP_PAINT_H
#define LATER_CLI_TOP_PAINT_H

#include "output/table.h"
#include "top/look.h"

#include <stdio.h>

enum top_column {
    TOP_QUEUE,
    TOP_READY,
    TOP_RUNNING,
    TOP_DELAYED,
    TOP_DEAD,
    TOP_OLDEST,
    TOP_HOSTS,
    TOP_IN,
    TOP_OUT,
    TOP_COLUMNS
};

struct top_view {
    size_t width, height; /* characters; height 0 = no limit */
    bool coloured, utf8;
    bool over;            /* drawn over the last frame: the rest of each line must be cleared */
    enum top_column sort; /* names ascend, numbers descend, */
    bool reverse;         /* or the other way round */
    size_t first;         /* the first queue shown; frame_draw() keeps it within bounds */
    bool held;            /* frozen: no new look */
    const char *where;    /* which Redis, for people */
    double now;           /* monotonic */
};

#define LATE 60.0 /* seconds after which a waiting job is highlighted */

/* A frame that is being drawn. */
struct frame {
    FILE *out;
    const struct top *top;
    const struct top_view *view;
    size_t used;  /* characters in the present line */
    size_t lines; /* complete lines */
};

/* paint(): as much of a text as fits into the line, in a colour. The others: some spaces; a text
 * aligned to the right of some columns, with at least one space before it. */
void paint(struct frame *frame, enum colour colour, const char *text);
void paint_spaces(struct frame *frame, size_t count);
void paint_right(struct frame *frame, enum colour colour, const char *text, size_t width);

void paint_end_line(struct frame *frame);

/* Write a number into out and return it: 1234567 as 1,234,567, and from ten million on in thousands
 * or millions; a rate; an age. A negative number becomes "-". */
char *paint_count(char *out, size_t room, uint64_t number);
char *paint_rate(char *out, size_t room, double rate);
char *paint_age(char *out, size_t room, double seconds);

#endif
