/*
 * options.h: the command line of later-web.
 */
#ifndef LATER_WEB_OPTIONS_H
#define LATER_WEB_OPTIONS_H

#include "http/guard.h"
#include "http/mask.h"

#include <stdbool.h>

#define LISTEN_DEFAULT "unix:/run/laterd/web.sock"

struct options {
    const char *listen;                  /* see listener.h */
    const char *config, *redis, *prefix; /* passed on to `later`; NULL = its own default */
    const char *token_files[ROLES];      /* by role; NULL = none */
    const char *user_header;             /* NULL = none */
    const char *operators;               /* a group's name; NULL = none */
    const char *notify_file;             /* NULL = none */
    const char *tasks_file;              /* NULL = none */
    struct guard guard;                  /* without its tokens */
    struct mask mask;
};

/* Borrows from argv. Returns -1 to go on, or the exit status after printing everything. */
int options_parse(struct options *options, int argc, char **argv);

#endif
