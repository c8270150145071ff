/*
 * frame.h: one frame of `later top`, as lines of text. Pure.
 */
#ifndef LATER_CLI_TOP_FRAME_H
#define LATER_CLI_TOP_FRAME_H

#include "top/paint.h"

#include <stdio.h>

/* Writes at most `height` lines, none wider than `width`. If all are used, the last one has no
 * newline. */
void frame_draw(FILE *out, const struct top *top, struct top_view *view);

/* Returns how many queues fit. */
size_t frame_rows(const struct top *top, const struct top_view *view);

#endif
