/*
 * peer.h: asks the kernel who is at the other end of a unix socket.
 */
#ifndef LATER_WEB_PEER_H
#define LATER_WEB_PEER_H

#include <stdbool.h>
#include <sys/types.h>

struct peer {
    bool known;
    uid_t user;
    bool may_act; /* root, our own user, or a member of the socket file's group */
};

/* path: the socket file. If the kernel does not tell, the peer is unknown and may not act. */
struct peer peer_of(int fd, const char *path);

#endif
