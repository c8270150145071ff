/*
 * beanstalk.c: a worker of beanstalkd that does nothing, at its best: many commands under way on
 * one connection.
 *
 *     beanstalk PORT JOBS SERVER-PID
 *
 * Puts the jobs (documents of about 100 bytes), then reserves and deletes them all. Prints one row.
 * The protocol: doc/protocol.txt of beanstalkd.
 */
#include "tests/bench/measure.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BODY      100
#define UNDER_WAY 100

static FILE *replies;
static int fd;

static void dial(int port)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int one = 1;

    fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) < 0)
        fatal("beanstalkd does not take connections");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    replies = fdopen(dup(fd), "r");
    if (!replies)
        fatal("no memory");
}

static void send_all(const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t sent = write(fd, bytes, len);

        if (sent <= 0)
            fatal("beanstalkd: write");
        bytes += sent;
        len -= (size_t)sent;
    }
}

/* Reads a line that must begin with `word`; returns what follows. */
static const char *expect(const char *word)
{
    static char line[256];

    if (!fgets(line, sizeof line, replies) || strncmp(line, word, strlen(word)) != 0)
        fatal("beanstalkd answered %s instead of %s", line, word);
    return line + strlen(word);
}

static void put_all(size_t count)
{
    static char commands[UNDER_WAY * (BODY + 32)], body[BODY + 1];

    memset(body, 'x', BODY);
    for (size_t done = 0; done < count; done += UNDER_WAY) {
        size_t len = 0;

        for (size_t i = 0; i < UNDER_WAY; i++)
            len += (size_t)snprintf(commands + len, sizeof commands - len,
                                    "put 0 0 120 %d\r\n%s\r\n", BODY, body);
        send_all(commands, len);
        for (size_t i = 0; i < UNDER_WAY; i++)
            expect("INSERTED ");
    }
}

/* Deletes what came last and reserves as many again, in one write. */
static void drain(size_t count)
{
    static char commands[UNDER_WAY * 64], body[BODY + 3];
    unsigned long ids[UNDER_WAY];
    size_t held = 0;

    for (size_t done = 0; done < count || held; done += held) {
        size_t len = 0, deleted = held, asked = count - done < UNDER_WAY ? count - done : UNDER_WAY;

        for (size_t i = 0; i < deleted; i++)
            len +=
                (size_t)snprintf(commands + len, sizeof commands - len, "delete %lu\r\n", ids[i]);
        for (size_t i = 0; i < asked; i++)
            len += (size_t)snprintf(commands + len, sizeof commands - len, "reserve\r\n");
        send_all(commands, len);
        for (size_t i = 0; i < deleted; i++)
            expect("DELETED");
        for (held = 0; held < asked; held++) {
            ids[held] = strtoul(expect("RESERVED "), NULL, 10);
            if (fread(body, BODY + 2, 1, replies) != 1)
                fatal("beanstalkd: a body is missing");
        }
    }
}

int main(int argc, char **argv)
{
    size_t count = argc > 2 ? strtoul(argv[2], NULL, 10) / UNDER_WAY * UNDER_WAY : 0;
    double start, server, worker;
    pid_t pid = argc > 3 ? (pid_t)atol(argv[3]) : 0;

    if (!count || !pid)
        fatal("usage: beanstalk PORT JOBS SERVER-PID");
    dial(atoi(argv[1]));
    put_all(count);
    server = cpu_of(pid);
    worker = cpu_of(getpid());
    start = now_monotonic();
    drain(count);
    start = now_monotonic() - start;
    row_begin("peer");
    row_text("peer", "beanstalkd");
    row_number("jobs", (double)count);
    row_number("rate", (double)count / start);
    row_number("server_us", (cpu_of(pid) - server) / (double)count * 1e6);
    row_number("worker_us", (cpu_of(getpid()) - worker) / (double)count * 1e6);
    row_end();
    return 0;
}
