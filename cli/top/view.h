/*
 * view.h: how `later top` is shown.
 */
#ifndef LATER_CLI_TOP_VIEW_H
#define LATER_CLI_TOP_VIEW_H

#include <stdbool.h>
#include <stddef.h>

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

#endif
