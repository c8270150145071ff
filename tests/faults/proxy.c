/*
 * proxy.c: `proxy PORT TARGET CONTROL`: a TCP proxy in front of a Redis that spoils its
 * connections.
 *
 * Listens on 127.0.0.1:PORT (0: any; it prints which), passes on to the unix socket TARGET, and
 * takes orders, a line each, on the unix socket CONTROL:
 *
 *     drop N      of 10,000 script calls N lose their reply: the call is delivered, the connection
 *                 cut before the answer comes back, as when the network breaks in between
 *     delay MS    each way
 *     trickle N   1: what comes back, a byte at a time. Not what goes there: it is Redis that would
 *                 read it, and scripts of 400 KB to load cost more than a busy machine has
 *     cut 0       all connections, now
 *     hold N      1: nothing passes, and no connection ends, as when a cable is pulled; until 0
 *     count 0     answers how many replies were lost
 *
 * One thread, poll(). Ends with who started it.
 */
#include "base/clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define PAIRS  128
#define ROOM   262144
#define LINGER 0.030 /* from the call to the cut: it has been run by then */

/* One direction of a connection. */
struct way {
    int from, to;
    char data[ROOM];
    size_t len;
    double due; /* when it may be passed on */
};

struct pair {
    bool used;
    struct way up, down;
    double cut_at; /* 0 = not yet; otherwise nothing is passed down any more */
};

static struct pair pairs[PAIRS];
static unsigned drop, trickle, hold, count;
static double delay;

static int listen_tcp(int port)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    socklen_t len = sizeof address;
    int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0 || listen(fd, 64) < 0 ||
        getsockname(fd, (struct sockaddr *)&address, &len) < 0)
        return -1;
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    return fd;
}

static int unix_socket(const char *path, bool server)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int result;

    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    if (server)
        unlink(path);
    result = server ? bind(fd, (struct sockaddr *)&address, sizeof address)
                    : connect(fd, (struct sockaddr *)&address, sizeof address);
    if (result < 0 || (server && listen(fd, 8) < 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

static void end_pair(struct pair *pair)
{
    close(pair->up.from);
    close(pair->up.to);
    pair->used = false;
}

static void begin_pair(int client, const char *target)
{
    int one = 1, server = unix_socket(target, false);
    struct pair *pair = pairs;

    while (pair < pairs + PAIRS && pair->used)
        pair++;
    if (server < 0 || pair == pairs + PAIRS) {
        close(client);
        if (server >= 0)
            close(server);
        return;
    }
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    fcntl(client, F_SETFL, O_NONBLOCK);
    fcntl(server, F_SETFL, O_NONBLOCK);
    pair->used = true;
    pair->cut_at = 0;
    pair->up.from = pair->down.to = client;
    pair->up.to = pair->down.from = server;
    pair->up.len = pair->down.len = 0;
}

/* Of the script calls in this piece, should one lose its reply? */
static bool chosen(const char *data, size_t len)
{
    static const char word[] = "EVALSHA";

    for (const char *at = data; (at = memmem(at, len - (size_t)(at - data), word, 7)); at += 7) {
        if ((unsigned)random() % 10000 < drop)
            return true;
    }
    return false;
}

/* Reads what there is. Returns false at the end of the connection. */
static bool take(struct pair *pair, struct way *way)
{
    ssize_t got = read(way->from, way->data + way->len, ROOM - way->len);

    if (got <= 0)
        return got < 0 && (errno == EAGAIN || errno == EINTR);
    if (way == &pair->up && pair->cut_at <= 0 && chosen(way->data + way->len, (size_t)got)) {
        pair->cut_at = later_clock() + delay + LINGER;
        count++;
    }
    if (way == &pair->down && pair->cut_at > 0)
        return true; /* the reply is lost */
    if (way->len == 0)
        way->due = later_clock() + delay;
    way->len += (size_t)got;
    return true;
}

static bool pass_on(struct way *way, size_t most)
{
    ssize_t put;

    while (way->len && later_clock() >= way->due) {
        put = send(way->to, way->data, way->len < most ? way->len : most, MSG_NOSIGNAL);
        if (put < 0)
            return errno == EAGAIN || errno == EINTR;
        way->len -= (size_t)put;
        memmove(way->data, way->data + put, way->len);
    }
    return true;
}

static void obey(int listener)
{
    int fd = accept(listener, NULL, NULL);
    char line[64] = "", word[16] = "", answer[32];
    unsigned number = 0;

    if (fd < 0 || read(fd, line, sizeof line - 1) <= 0) {
        close(fd);
        return;
    }
    sscanf(line, "%15s %u", word, &number);
    if (strcmp(word, "drop") == 0)
        drop = number;
    else if (strcmp(word, "delay") == 0)
        delay = number / 1000.0;
    else if (strcmp(word, "trickle") == 0)
        trickle = number;
    else if (strcmp(word, "hold") == 0)
        hold = number;
    for (struct pair *pair = pairs; strcmp(word, "cut") == 0 && pair < pairs + PAIRS; pair++) {
        if (pair->used)
            end_pair(pair);
    }
    snprintf(answer, sizeof answer, "%u\n", count);
    (void)!write(fd, answer, strlen(answer));
    close(fd);
}

static short wanted(const struct way *in, const struct way *out)
{
    return (short)((in->len < ROOM ? POLLIN : 0) |
                   (out->len && later_clock() >= out->due ? POLLOUT : 0));
}

static void serve(struct pair *pair, short client, short server)
{
    bool good = !(client & POLLIN) || take(pair, &pair->up);

    good = good && (!(server & POLLIN) || take(pair, &pair->down));
    good = good && !((client | server) & POLLERR);
    good = good && pass_on(&pair->up, ROOM) &&
           (pair->cut_at > 0 || pass_on(&pair->down, trickle ? 1 : ROOM));
    if ((client & POLLHUP) && !(client & POLLIN))
        good = false;
    if ((server & POLLHUP) && !(server & POLLIN))
        good = false;
    if (!good || (pair->cut_at > 0 && later_clock() >= pair->cut_at))
        end_pair(pair);
}

static void turn(int listener, int control, const char *target)
{
    struct pollfd polls[2 + 2 * PAIRS] = { { .fd = hold ? -1 : listener, .events = POLLIN },
                                           { .fd = control, .events = POLLIN } };

    for (int i = 0; i < PAIRS; i++) {
        struct pair *pair = &pairs[i];

        polls[2 + 2 * i].fd = pair->used && !hold ? pair->up.from : -1;
        polls[3 + 2 * i].fd = pair->used && !hold ? pair->down.from : -1;
        polls[2 + 2 * i].events = wanted(&pair->up, &pair->down);
        polls[3 + 2 * i].events = wanted(&pair->down, &pair->up);
    }
    if (poll(polls, 2 + 2 * PAIRS, 5) < 0)
        return;
    for (int i = 0; i < PAIRS && !hold; i++) {
        if (pairs[i].used)
            serve(&pairs[i], polls[2 + 2 * i].revents, polls[3 + 2 * i].revents);
    }
    if (polls[1].revents)
        obey(control);
    if (polls[0].revents) {
        int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

        if (client >= 0)
            begin_pair(client, target);
    }
}

int main(int argc, char **argv)
{
    int listener, control;

    if (argc != 4) {
        fprintf(stderr, "usage: proxy PORT TARGET CONTROL\n");
        return 64;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_IGN);
    srandom(1);
    control = unix_socket(argv[3], true);
    listener = listen_tcp(atoi(argv[1]));
    if (listener < 0 || control < 0) {
        perror("proxy");
        return 71;
    }
    for (;;)
        turn(listener, control, argv[2]);
}
