/*
 * paint.h: the lines of a picture of `later top`, piece by piece.
 */
#ifndef LATER_CLI_TOP_PAINT_H
#define LATER_CLI_TOP_PAINT_H

#include "output/table.h"
#include "top/look.h"
#include "top/view.h"

#include <stdio.h>

#define LATE 60.0 /* seconds that a ready job waits, from which on it stands out */

/* A frame while it is drawn. */
struct frame {
    FILE *out;
    const struct top *top;
    const struct top_view *view;
    size_t used;  /* characters in this line */
    size_t lines; /* that are complete */
};

/* How many characters a text has. */
size_t paint_width(const char *text);

/* As much of it as the line has room for, in a colour; that many spaces; a text at the right of so
 * many columns, at least one space before it. */
void paint(struct frame *frame, enum colour colour, const char *text);
void paint_spaces(struct frame *frame, size_t count);
void paint_right(struct frame *frame, enum colour colour, const char *text, size_t width);

void paint_end_line(struct frame *frame);

/* Write a number into out, which they return: 1234567 as 1,234,567, and from ten million on in
 * thousands or millions; something a second; an age. Less than 0 is "-". */
char *paint_count(char *out, size_t room, uint64_t number);
char *paint_rate(char *out, size_t room, double rate);
char *paint_age(char *out, size_t room, double seconds);

/* frame_queues.c: the table of queues. Moves view->first into its bounds. */
void frame_queues(struct frame *frame, struct top_view *view);

#endif
