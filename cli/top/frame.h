/*
 * frame.h: one picture of `later top`, as lines of text. Pure.
 */
#ifndef LATER_CLI_TOP_FRAME_H
#define LATER_CLI_TOP_FRAME_H

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

/* How it is shown. */
struct top_view {
    size_t width, height; /* characters; height 0 = as many lines as there are */
    bool coloured, utf8;
    bool over;            /* drawn over the picture before: what is left of its lines goes */
    enum top_column sort; /* the name upwards, numbers downwards; */
    bool reverse;         /* the other way round */
    size_t first;         /* queue: the others are above. frame_draw() keeps it in its bounds */
    bool held;            /* it is not looked again */
    const char *where;    /* which Redis, for people */
    double now;           /* monotonic */
};

/* Writes lines: never more than height, the last of which has no newline then, and none wider than
 * width. */
void frame_draw(FILE *out, const struct top *top, struct top_view *view);

/* How many queues it has room for. */
size_t frame_rows(const struct top *top, const struct top_view *view);

#endif
