/*
 * hosts.h: the daemons that have announced themselves.
 */
#ifndef LATER_CLI_HOSTS_H
#define LATER_CLI_HOSTS_H

#include "cli.h"
#include "status/served.h"

/* Prints them. Those not seen for a while are shown as gone. Returns how many there are. */
int hosts_print(struct cli *cli, const struct served *served);

/* One daemon. The strings are borrowed for the call. */
struct host {
    const char *name, *fault; /* fault: what is wrong with it; "" = nothing */
    bool gone;
    uint64_t workers, running, performed, failed;
    double rate, up; /* attempts a second; seconds */
};

void hosts_each(const struct served *served, void (*fn)(void *arg, const struct host *host),
                void *arg);

#endif
