/* peer.c: finds who is at the other end of a unix socket. */
#include "http/peer.h"

#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define GROUPS_MAX 256

#define OVERFLOW 65534 /* in a user namespace: stands for any group that it does not know */

#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59 /* since Linux 4.13 */
#endif

static bool peer_is_member(int fd, gid_t first, gid_t group)
{
    gid_t groups[GROUPS_MAX];
    socklen_t len = sizeof groups;

    if (group == OVERFLOW || group == PEER_NO_GROUP)
        return false;
    if (first == group)
        return true;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &len) < 0)
        return false;
    for (size_t i = 0; i < len / sizeof *groups; i++) {
        if (groups[i] == group)
            return true;
    }
    return false;
}

struct peer peer_of(int fd, const char *path, gid_t operators)
{
    struct ucred who;
    socklen_t len = sizeof who;
    struct stat file;
    struct peer peer = { .role = ROLE_READER };

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0)
        return peer;
    peer.known = true;
    peer.user = who.uid;
    if (who.uid == 0 || who.uid == geteuid() ||
        (stat(path, &file) == 0 && peer_is_member(fd, who.gid, file.st_gid)))
        peer.role = ROLE_ADMIN;
    else if (peer_is_member(fd, who.gid, operators))
        peer.role = ROLE_OPERATOR;
    return peer;
}
