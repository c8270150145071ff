/*
 * peer.h: who is at the other end of a unix socket, by the kernel's word.
 */
#ifndef LATER_WEB_PEER_H
#define LATER_WEB_PEER_H

#include <stdbool.h>
#include <sys/types.h>

struct peer {
    bool known;
    uid_t user;
    bool
        may_act; /* root, the user that we are, or a member of the group that has the socket file */
};

/* path: the socket file. Where the kernel does not say, nobody is known. */
struct peer peer_of(int fd, const char *path);

#endif
