/*
 * ports.h: free TCP ports of 127.0.0.1 for servers of a test's own.
 *
 * They lie below those that the kernel gives to outgoing connections, and no other test takes them
 * while this process lives: each is guarded by an abstract unix socket of its name. Nothing is left
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

/* Takes `count` ports, at most PORTS_MOST, of which the one PORTS_BUS above is free, too. Returns
 * 0, or -1 where there are not so many. */
int ports_take(struct ports *ports, unsigned count);

/* Others may have them. */
void ports_leave(struct ports *ports);

#endif
