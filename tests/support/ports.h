/*
 * ports.h: finds free TCP ports of 127.0.0.1 for a test's own servers.
 *
 * They are below those that the kernel uses for outgoing connections. While this process lives, no
 * other test takes them: each is guarded by an abstract unix socket with its name. Nothing is left
 * behind, however the process ends.
 */
#ifndef TESTS_SUPPORT_PORTS_H
#define TESTS_SUPPORT_PORTS_H

#define PORTS_MOST 8
#define PORTS_BUS  10000 /* what Redis Cluster adds to a port for its bus */

struct ports {
    unsigned count;
    unsigned port[PORTS_MOST];
    int guard[PORTS_MOST];
};

/* Takes `count` ports, at most PORTS_MOST, for each of which the port PORTS_BUS above is free too.
 * Returns 0, or -1 if there are not enough. */
int ports_take(struct ports *ports, unsigned count);

/* Lets others use them. */
void ports_leave(struct ports *ports);

#endif
