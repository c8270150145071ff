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

#endif
