/*
 * peer.h: asks the kernel who is at the other end of a unix socket.
 */
#ifndef LATER_WEB_PEER_H
#define LATER_WEB_PEER_H

#include "http/role.h"

#include <stdbool.h>
#include <sys/types.h>

struct peer {
    bool known;
    uid_t user;
    enum role role;
};

#define PEER_NO_GROUP ((gid_t)-1)

/* Root, our own user and members of the socket file's group are admins, members of the group
 * `operators` (PEER_NO_GROUP = none) operators, all others readers, also if the kernel does not
 * tell. path: the socket file. */
struct peer peer_of(int fd, const char *path, gid_t operators);

#endif
