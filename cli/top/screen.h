/*
 * screen.h: the terminal while a program has all of it: keys one by one, and its end as it was.
 */
#ifndef LATER_CLI_TOP_SCREEN_H
#define LATER_CLI_TOP_SCREEN_H

#include "later/error.h"

#include <signal.h>
#include <stddef.h>
#include <termios.h>

enum screen_event {
    SCREEN_TIME, /* the time is up */
    SCREEN_END,  /* TERM, INT, HUP, or nobody types any more */
    SCREEN_SIZE, /* it has another size, or is ours again after ^Z */
    SCREEN_UP,
    SCREEN_DOWN,
    SCREEN_LEFT,
    SCREEN_RIGHT,
    SCREEN_PAGE_UP,
    SCREEN_PAGE_DOWN,
    SCREEN_HOME,
    SCREEN_LAST,
    SCREEN_OTHER,     /* what means nothing here */
    SCREEN_KEYS = ' ' /* from here on: the character itself */
};

struct screen {
    struct termios before;
    sigset_t mask;
    int signals; /* signalfd */
};

/* Returns 0, or -1 with *err. Behind a success screen_close() is due. */
int screen_open(struct screen *screen, struct later_error *err);
void screen_close(struct screen *screen);

/* Waits for a key, or so many seconds. */
int screen_wait(struct screen *screen, double seconds);

void screen_size(size_t *width, size_t *height);

#endif
