/*
 * private.h: a laterd of `later work`'s own, for one program, as long as the command runs.
 *
 * Its configuration and its state are in a temporary folder, which goes when it ends. What the
 * program gets is what laterd's plugin exec gives to programs (later-job(3)).
 */
#ifndef LATER_CLI_PRIVATE_H
#define LATER_CLI_PRIVATE_H

#include "cli.h"
#include "config/config.h"
#include "new/skeleton.h"

#include <sys/types.h>

/* One run of the command. */
struct private_laterd {
    struct cli *cli;
    struct skeleton files; /* where laterd and its plugins are */
    char folder[PATH_MAX], program[PATH_MAX];
    struct config *rules; /* the configuration of this host, for what it says of jobs; owned */
    bool lines;           /* the program stays, and gets many jobs */
    char *hello;          /* what it said of its types, owned; NULL: it was not asked */
    int64_t parallel, programs; /* parallel 0: with lines, one job at a time */
    int64_t number;             /* jobs after which it ends; 0 = never */
    double lease, timeout;      /* seconds; timeout 0 = as in rules */
    int signals;                /* signalfd */
    bool stopping;              /* laterd was told to stop */
    pid_t laterd;
};

/* In private_config.c: writes configuration and environment into the folder, which must be empty.
 * Returns 0, or -1 with *err. */
int private_config_write(const struct private_laterd *own, struct later_error *err);

/* Prints the program's entry for the laterd.conf of a host. */
void private_config_entry(const struct private_laterd *own);

/* The path of a file in the folder. */
void private_config_path(const struct private_laterd *own, const char *name, char path[PATH_MAX]);

/* Runs it. Returns laterd's exit status: 0 if it was told to stop or nothing is left; or -1 with
 * *err. */
int private_run(struct private_laterd *own, struct later_error *err);

#endif
