/*
 * hosts.h: the daemons that have announced themselves.
 */
#ifndef LATER_CLI_HOSTS_H
#define LATER_CLI_HOSTS_H

#include "cli.h"
#include "status/served.h"

/* Prints them. Those not seen for a while are shown as gone. Returns how many there are. */
int hosts_print(struct cli *cli, const struct served *served);

/* One daemon. The texts are printable. */
struct host {
    char name[64], fault[128]; /* fault: what is wrong with it; "" = nothing */
    bool gone;
    uint64_t workers, running, failed;
    double rate, up; /* attempts a second; seconds */
};

/* Lists them; the caller frees the list. Returns how many there are; none without memory. */
size_t hosts_list(const struct served *served, struct host **hosts);

#endif
