/*
 * paint.h: paints the lines of a frame of `later top`, piece by piece.
 */
#ifndef LATER_CLI_TOP_PAINT_H
#define LATER_CLI_TOP_PAINT_H

#include "output/table.h"
#include "top/look.h"
#include "top/view.h"

#include <stdio.h>

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
