/*
 * beanstalk.c: a worker of beanstalkd that does nothing, at its best: many commands under way on
 * one connection.
 *
 *     beanstalk PORT JOBS SERVER-PID BYTES
 *     beanstalk PORT pickup SERVER-PID BYTES
 *
 * Puts the jobs (documents of so many bytes), then reserves and deletes them all. Or puts one every
 * 20 ms, which another process reserves: how soon it has it. Prints one row.
 * The protocol: doc/protocol.txt of beanstalkd.
 */
#include "tests/bench/measure.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNDER_WAY  100
#define LARGE_MOST (8 << 20) /* bytes that are under way, at most */
#define BYTES_MOST (1 << 20)
#define PACE       0.020 /* seconds between pushes that are picked up, as in pickup.c */
#define PUSHES     200
#define WARM       20

static FILE *replies;
static int fd;
static size_t bytes, under_way;
static char body[BYTES_MOST + 3];

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

static void send_all(const char *text, size_t len)
{
    while (len > 0) {
        ssize_t sent = write(fd, text, len);

        if (sent <= 0)
            fatal("beanstalkd: write");
        text += sent;
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
    static char commands[LARGE_MOST + UNDER_WAY * 64];

    memset(body, 'x', bytes);
    for (size_t done = 0; done < count; done += under_way) {
        size_t len = 0;

        for (size_t i = 0; i < under_way; i++)
            len += (size_t)snprintf(commands + len, sizeof commands - len,
                                    "put 0 0 120 %zu\r\n%s\r\n", bytes, body);
        send_all(commands, len);
        for (size_t i = 0; i < under_way; i++)
            expect("INSERTED ");
    }
}

/* Deletes what came last and reserves as many again, in one write. */
static void drain(size_t count)
{
    static char commands[UNDER_WAY * 64];
    unsigned long ids[UNDER_WAY];
    size_t held = 0;

    for (size_t done = 0; done < count || held; done += held) {
        size_t len = 0, deleted = held, asked = count - done < under_way ? count - done : under_way;

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
            if (fread(body, bytes + 2, 1, replies) != 1)
                fatal("beanstalkd: a body is missing");
        }
    }
}

/* ---- pick-up */

/* Tells of each job when it was there, on `out`, until the other end is gone. */
static void serve(int port, int out)
{
    char command[64] = "reserve\r\n";
    double now;

    dial(port);
    for (;;) {
        unsigned long id;

        send_all(command, strlen(command));
        if (strncmp(command, "delete", 6) == 0)
            expect("DELETED");
        id = strtoul(expect("RESERVED "), NULL, 10);
        if (fread(body, bytes + 2, 1, replies) != 1)
            fatal("beanstalkd: a body is missing");
        now = now_monotonic();
        if (write(out, &now, sizeof now) != sizeof now)
            exit(0);
        snprintf(command, sizeof command, "delete %lu\r\nreserve\r\n", id);
    }
}

static void put_one_by_one(int marks, size_t count, double *waits)
{
    char *command = malloc(bytes + 64), *at = command;
    double next = now_monotonic() + PACE, called, began;

    if (!command)
        fatal("no memory");
    at += sprintf(command, "put 0 0 120 %zu\r\n", bytes);
    memset(at, 'x', bytes);
    memcpy(at + bytes, "\r\n", 2);
    for (size_t i = 0; i < count; i++) {
        sleep_seconds(next - now_monotonic());
        called = now_monotonic();
        send_all(command, (size_t)(at - command) + bytes + 2);
        expect("INSERTED ");
        if (read(marks, &began, sizeof began) != sizeof began)
            fatal("the worker has ended");
        waits[i] = began - called;
        next += PACE;
    }
    free(command);
}

static void pickup(int port, pid_t server_pid)
{
    static double waits[PUSHES];
    double server, worker;
    int marks[2];
    pid_t pid;

    if (pipe(marks) < 0 || (pid = fork()) < 0)
        fatal("no second process");
    if (pid == 0)
        serve(port, marks[1]);
    dial(port);
    put_one_by_one(marks[0], WARM, waits);
    server = cpu_of(server_pid);
    worker = cpu_of(pid);
    put_one_by_one(marks[0], PUSHES, waits);
    row_begin("pickup");
    row_text("peer", "beanstalkd");
    row_number("p50_ms", percentile(waits, PUSHES, 0.50) * 1000);
    row_number("p90_ms", percentile(waits, PUSHES, 0.90) * 1000);
    row_number("server_us", (cpu_of(server_pid) - server) / PUSHES * 1e6);
    row_number("worker_us", (cpu_of(pid) - worker) / PUSHES * 1e6);
    row_end();
    kill(pid, SIGTERM);
    waitpid(pid, NULL, 0);
}

/* ---- a full queue */

static void whole(int port, size_t count, pid_t pid)
{
    double start, server, worker;

    under_way = bytes * UNDER_WAY > LARGE_MOST ? LARGE_MOST / bytes : UNDER_WAY;
    count -= count % under_way;
    dial(port);
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
}

int main(int argc, char **argv)
{
    bool picks = argc > 2 && strcmp(argv[2], "pickup") == 0;
    size_t count = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    pid_t pid = argc > 3 ? (pid_t)atol(argv[3]) : 0;

    bytes = argc > 4 ? strtoul(argv[4], NULL, 10) : 0;
    if ((!count && !picks) || !pid || bytes < 1 || bytes > BYTES_MOST)
        fatal("usage: beanstalk PORT JOBS|pickup SERVER-PID BYTES");
    if (picks)
        pickup(atoi(argv[1]), pid);
    else
        whole(atoi(argv[1]), count, pid);
    return 0;
}
