/*
 * screen.h: the terminal in full-screen mode: reads single keys, and restores the terminal at the
 * end.
 */
#ifndef LATER_CLI_TOP_SCREEN_H
#define LATER_CLI_TOP_SCREEN_H

#include "later/error.h"

#include <signal.h>
#include <stddef.h>
#include <termios.h>

enum screen_event {
    SCREEN_TIME, /* the time is up */
    SCREEN_END,  /* TERM, INT or HUP, or standard input has ended */
    SCREEN_SIZE, /* the size has changed, or the terminal is ours again after ^Z */
    SCREEN_UP,
    SCREEN_DOWN,
    SCREEN_LEFT,
    SCREEN_RIGHT,
    SCREEN_PAGE_UP,
    SCREEN_PAGE_DOWN,
    SCREEN_HOME,
    SCREEN_LAST,
    SCREEN_OTHER,     /* a key without a meaning */
    SCREEN_KEYS = ' ' /* from here on: the character itself */
};

struct screen {
    struct termios before;
    sigset_t mask;
    int signals; /* signalfd */
};

/* Returns 0, and then screen_close() is due; or -1 with *err. */
int screen_open(struct screen *screen, struct later_error *err);
void screen_close(struct screen *screen);

/* Waits for a key, or this many seconds. */
int screen_wait(struct screen *screen, double seconds);

void screen_size(size_t *width, size_t *height);

#endif
