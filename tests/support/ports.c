/* ports.c: finds free ports of 127.0.0.1. */
#include "ports.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Linux uses 32768 and above for outgoing connections. The bus of our highest port is below
 * that. */
#define FIRST 10240u
#define LAST  20239u

/* Returns a descriptor that guards this port, or -1 if another test has it. */
static int guard(unsigned port)
{
    struct sockaddr_un un = { .sun_family = AF_UNIX };
    int len = snprintf(un.sun_path + 1, sizeof un.sun_path - 1, "later-test-port-%u", port);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len);

    if (fd >= 0 && bind(fd, (struct sockaddr *)&un, size) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static bool is_free(unsigned port)
{
    struct sockaddr_in in = { .sin_family = AF_INET,
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                              .sin_port = htons((unsigned short)port) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool yes = fd >= 0 && bind(fd, (struct sockaddr *)&in, sizeof in) == 0;

    if (fd >= 0)
        close(fd);
    return yes;
}

/* Each process begins at another port, so that two seldom try the same. */
int ports_take(struct ports *ports, unsigned count)
{
    unsigned span = LAST - FIRST + 1, start = (unsigned)getpid() * 37 % span;

    ports->count = 0;
    for (unsigned i = 0; i < span && ports->count < count; i++) {
        unsigned port = FIRST + (start + i) % span;
        int fd = guard(port);

        if (fd < 0)
            continue;
        if (is_free(port) && is_free(port + PORTS_BUS)) {
            ports->port[ports->count] = port;
            ports->guard[ports->count++] = fd;
        } else {
            close(fd);
        }
    }
    if (ports->count == count)
        return 0;
    ports_leave(ports);
    return -1;
}

void ports_leave(struct ports *ports)
{
    for (unsigned i = 0; i < ports->count; i++)
        close(ports->guard[i]);
    ports->count = 0;
}
