/*
 * private_config.h: the configuration of the laterd of `later work --lines`, and the folder for it.
 */
#ifndef LATER_CLI_PRIVATE_CONFIG_H
#define LATER_CLI_PRIVATE_CONFIG_H

#include "cli.h"
#include "new/skeleton.h"

#include <sys/types.h>

/* One run of the command. */
struct private_laterd {
    struct cli *cli;
    struct skeleton files; /* where laterd and its plugins are */
    char folder[PATH_MAX], program[PATH_MAX];
    char *hello; /* what the program said, owned; NULL: it was not asked */
    int64_t parallel, programs;
    double lease, timeout; /* seconds; 0 = laterd's default */
    int signals;           /* signalfd */
    pid_t laterd;
};

/* Writes configuration and environment into the folder, which must be empty. Returns 0, or -1 with
 * *err. */
int private_config_write(const struct private_laterd *own, struct later_error *err);

/* Prints the program's entry for the laterd.conf of a host. */
void private_config_entry(const struct private_laterd *own);

/* The path of a file in the folder. */
void private_config_path(const struct private_laterd *own, const char *name, char path[PATH_MAX]);

#endif
