/*
 * frame.h: one picture of `later top`, as lines of text. Pure.
 */
#ifndef LATER_CLI_TOP_FRAME_H
#define LATER_CLI_TOP_FRAME_H

#include "top/look.h"
#include "top/view.h"

#include <stdio.h>

/* Writes lines: never more than height, the last of which has no newline then, and none wider than
 * width. */
void frame_draw(FILE *out, const struct top *top, struct top_view *view);

/* How many queues it has room for. */
size_t frame_rows(const struct top *top, const struct top_view *view);

#endif
