/* fake_redis.c: runs a scripted Redis in a thread. */
#include "fake_redis.h"

#include <errno.h>
#include <hiredis/hiredis.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define NAMES 8192 /* commands whose names are kept */

struct fake_redis {
    char folder[64], path[80], url[96];
    unsigned port;
    int listener, stop, fd, upstream;
    pthread_t thread;
    fake_script *script;
    void *arg;
    char *buffer; /* what was read and is not a whole command yet */
    size_t len, room;
    size_t consumed; /* bytes of it that the present command has */
    char *words[FAKE_WORDS];
    size_t word_len[FAKE_WORDS];
    size_t count;
    _Atomic unsigned accepted, commands;
    char names[NAMES][16];
};

static int connect_to(const char *path)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(to.sun_path, sizeof to.sun_path, "%s", path);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Waits until fd is ready. Returns false if the test stops the server. */
static bool wait_for(struct fake_redis *fake, int fd, short events, int milliseconds)
{
    struct pollfd pollers[2] = { { .fd = fake->stop, .events = POLLIN },
                                 { .fd = fd, .events = events } };

    while (poll(pollers, 2, milliseconds) < 0 && errno == EINTR) {
    }
    return !pollers[0].revents;
}

static void *play(void *arg)
{
    struct fake_redis *fake = arg;

    fake->script(fake, fake->arg);
    close_fd(&fake->fd);
    close_fd(&fake->upstream);
    return NULL;
}

static bool listen_on(struct fake_redis *fake, const struct sockaddr *at, socklen_t len)
{
    fake->listener = socket(at->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    return fake->listener >= 0 && bind(fake->listener, at, len) == 0 &&
           listen(fake->listener, 64) == 0;
}

static bool listen_unix(struct fake_redis *fake)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };

    strcpy(fake->folder, "/tmp/later-fake-XXXXXX");
    if (!mkdtemp(fake->folder))
        return false;
    snprintf(fake->path, sizeof fake->path, "%s/socket", fake->folder);
    snprintf(fake->url, sizeof fake->url, "unix:%s", fake->path);
    strcpy(at.sun_path, fake->path);
    return listen_on(fake, (struct sockaddr *)&at, sizeof at);
}

static bool listen_tcp(struct fake_redis *fake)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof at;

    if (!listen_on(fake, (struct sockaddr *)&at, len) ||
        getsockname(fake->listener, (struct sockaddr *)&at, &len) < 0)
        return false;
    fake->port = ntohs(at.sin_port);
    snprintf(fake->url, sizeof fake->url, "redis://127.0.0.1:%u", fake->port);
    return true;
}

static struct fake_redis *start(bool (*listens)(struct fake_redis *fake), fake_script *script,
                                void *arg)
{
    struct fake_redis *fake = calloc(1, sizeof *fake);

    if (!fake)
        return NULL;
    fake->script = script;
    fake->arg = arg;
    fake->fd = fake->upstream = fake->listener = -1;
    fake->stop = eventfd(0, EFD_CLOEXEC);
    if (fake->stop >= 0 && listens(fake) && pthread_create(&fake->thread, NULL, play, fake) == 0)
        return fake;
    perror("fake_redis");
    close_fd(&fake->listener);
    close_fd(&fake->stop);
    free(fake);
    return NULL;
}

struct fake_redis *fake_start(fake_script *script, void *arg)
{
    return start(listen_unix, script, arg);
}

struct fake_redis *fake_start_tcp(fake_script *script, void *arg)
{
    return start(listen_tcp, script, arg);
}

void fake_stop(struct fake_redis *fake)
{
    eventfd_write(fake->stop, 1);
    pthread_join(fake->thread, NULL);
    close_fd(&fake->listener);
    close_fd(&fake->stop);
    if (*fake->folder) {
        unlink(fake->path);
        rmdir(fake->folder);
    }
    free(fake->buffer);
    free(fake);
}

const char *fake_url(const struct fake_redis *fake)
{
    return fake->url;
}

unsigned fake_port(const struct fake_redis *fake)
{
    return fake->port;
}

unsigned fake_accepted(struct fake_redis *fake)
{
    return atomic_load(&fake->accepted);
}

unsigned fake_commands(struct fake_redis *fake)
{
    return atomic_load(&fake->commands);
}

unsigned fake_called(struct fake_redis *fake, const char *name)
{
    unsigned all = fake_commands(fake), called = 0;

    for (unsigned i = 0; i < all && i < NAMES; i++)
        called += strcasecmp(fake->names[i], name) == 0;
    return called;
}

/* ---- the script's side */

void fake_cut(struct fake_redis *fake)
{
    close_fd(&fake->fd);
    close_fd(&fake->upstream);
    fake->len = fake->consumed = fake->count = 0;
}

bool fake_accept(struct fake_redis *fake)
{
    fake_cut(fake);
    while (fake->fd < 0) {
        if (!wait_for(fake, fake->listener, POLLIN, -1))
            return false;
        fake->fd = accept4(fake->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    }
    atomic_fetch_add(&fake->accepted, 1);
    return true;
}

/* Reads more into the buffer. */
static bool receive(struct fake_redis *fake)
{
    ssize_t got;

    if (fake->room - fake->len < 65536) {
        char *grown = realloc(fake->buffer, fake->room + 262144);

        if (!grown)
            return false;
        fake->buffer = grown;
        fake->room += 262144;
    }
    do {
        if (fake->fd < 0 || !wait_for(fake, fake->fd, POLLIN, -1))
            return false;
        got = recv(fake->fd, fake->buffer + fake->len, fake->room - fake->len, MSG_DONTWAIT);
    } while (got < 0 && (errno == EAGAIN || errno == EINTR));
    if (got <= 0)
        return false;
    fake->len += (size_t)got;
    return true;
}

/* Reads `*N` or `$N` and CR LF at *at. Returns N, or -1 if it is not all there yet. */
static long number_at(const struct fake_redis *fake, size_t *at)
{
    const char *end = memchr(fake->buffer + *at, '\n', fake->len - *at);
    long number;

    if (!end)
        return -1;
    number = strtol(fake->buffer + *at + 1, NULL, 10);
    *at = (size_t)(end + 1 - fake->buffer);
    return number;
}

/* Splits the buffer's first command into words. Returns false if it is not all there yet. */
static bool split(struct fake_redis *fake)
{
    size_t at = 0, offsets[FAKE_WORDS];
    long count = fake->len ? number_at(fake, &at) : -1;

    if (count < 0)
        return false;
    for (long i = 0; i < count; i++) {
        long len = at < fake->len ? number_at(fake, &at) : -1;

        if (len < 0 || fake->len < at + (size_t)len + 2)
            return false;
        if (i < FAKE_WORDS) {
            offsets[i] = at;
            fake->word_len[i] = (size_t)len;
        }
        at += (size_t)len + 2;
    }
    fake->count = count < FAKE_WORDS ? (size_t)count : FAKE_WORDS;
    fake->consumed = at;
    for (size_t i = 0; i < fake->count; i++)
        fake->words[i] = fake->buffer + offsets[i];
    return true;
}

bool fake_read(struct fake_redis *fake)
{
    unsigned number = atomic_load(&fake->commands);

    if (fake->fd < 0)
        return false;
    if (fake->consumed) {
        memmove(fake->buffer, fake->buffer + fake->consumed, fake->len - fake->consumed);
        fake->len -= fake->consumed;
    }
    fake->consumed = fake->count = 0;
    while (!split(fake)) {
        if (!receive(fake))
            return false;
    }
    if (number < NAMES)
        snprintf(fake->names[number], sizeof fake->names[number], "%.*s",
                 (int)(fake->word_len[0] < 15 ? fake->word_len[0] : 15), fake->words[0]);
    atomic_fetch_add(&fake->commands, 1);
    return true;
}

size_t fake_count(const struct fake_redis *fake)
{
    return fake->count;
}

/* The CR after a word becomes its NUL. fake_forward() restores it. */
const char *fake_word(const struct fake_redis *fake, size_t i)
{
    if (i >= fake->count)
        return "";
    fake->words[i][fake->word_len[i]] = '\0';
    return fake->words[i];
}

bool fake_swallow(struct fake_redis *fake, size_t len)
{
    while (fake->len - fake->consumed < len) {
        if (!receive(fake))
            return false;
    }
    fake->consumed += len;
    return true;
}

static bool send_all(struct fake_redis *fake, int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t sent = send(fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (sent > 0) {
            bytes += sent;
            len -= (size_t)sent;
        } else if ((errno != EAGAIN && errno != EINTR) || !wait_for(fake, fd, POLLOUT, -1)) {
            return false;
        }
    }
    return true;
}

bool fake_say_bytes(struct fake_redis *fake, const char *bytes, size_t len)
{
    return fake->fd >= 0 && send_all(fake, fake->fd, bytes, len);
}

bool fake_say(struct fake_redis *fake, const char *text)
{
    return fake_say_bytes(fake, text, strlen(text));
}

bool fake_shake(struct fake_redis *fake)
{
    if (!fake_accept(fake))
        return false;
    for (;;) {
        if (!fake_read(fake))
            return false;
        if (strcmp(fake_word(fake, 0), "PING") == 0)
            return fake_say(fake, "+PONG\r\n");
        if (strcmp(fake_word(fake, 0), "CLIENT") == 0 && strcmp(fake_word(fake, 1), "ID") == 0)
            fake_say(fake, ":7\r\n");
        else
            fake_say(fake, "+OK\r\n");
    }
}

bool fake_wait_closed(struct fake_redis *fake)
{
    while (receive(fake))
        fake->len = fake->consumed = fake->count = 0;
    return wait_for(fake, fake->listener, 0, 0);
}

bool fake_pause(struct fake_redis *fake, double seconds)
{
    return wait_for(fake, -1, 0, (int)(seconds * 1000));
}

/* ---- in front of a real server */

static bool reach(struct fake_redis *fake, const char *to)
{
    if (fake->upstream < 0)
        fake->upstream = connect_to(to);
    return fake->upstream >= 0;
}

/* Reads one whole answer of the server, and passes its bytes on as they come unless `lose`. */
static bool carry_answer(struct fake_redis *fake, bool lose)
{
    redisReader *reader = redisReaderCreate();
    void *reply = NULL;
    bool ok = true;
    char bytes[16384];

    while (ok && !reply) {
        ssize_t got = wait_for(fake, fake->upstream, POLLIN, -1)
                          ? read(fake->upstream, bytes, sizeof bytes)
                          : -1;

        ok = got > 0 && redisReaderFeed(reader, bytes, (size_t)got) == REDIS_OK &&
             redisReaderGetReply(reader, &reply) == REDIS_OK &&
             (lose || fake_say_bytes(fake, bytes, (size_t)got));
    }
    if (reply)
        freeReplyObject(reply);
    redisReaderFree(reader);
    return ok;
}

bool fake_forward(struct fake_redis *fake, const char *to, bool lose)
{
    for (size_t i = 0; i < fake->count; i++)
        fake->words[i][fake->word_len[i]] = '\r';
    return reach(fake, to) && send_all(fake, fake->upstream, fake->buffer, fake->consumed) &&
           carry_answer(fake, lose);
}

/* Passes what is there from one side to the other, at most *left bytes. Returns false at the
 * end. */
static bool pass(struct fake_redis *fake, int from, int to, size_t *left)
{
    char bytes[65536];
    size_t most = *left < sizeof bytes ? *left : sizeof bytes;
    ssize_t got = most ? recv(from, bytes, most, MSG_DONTWAIT) : 0;

    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (got <= 0 || !send_all(fake, to, bytes, (size_t)got))
        return false;
    if (*left != (size_t)-1)
        *left -= (size_t)got;
    return *left > 0;
}

/* The server answers our half-close with its own once it has carried out everything. */
static bool let_finish(struct fake_redis *fake)
{
    char bytes[16384];
    ssize_t got;

    shutdown(fake->upstream, SHUT_WR);
    do {
        if (!wait_for(fake, fake->upstream, POLLIN, -1))
            return false;
        got = read(fake->upstream, bytes, sizeof bytes);
    } while (got > 0);
    return true;
}

bool fake_relay(struct fake_redis *fake, const char *to, size_t up, size_t down)
{
    bool open = reach(fake, to) && up > 0 && down > 0;
    bool ok = open;

    while (ok && open) {
        struct pollfd pollers[3] = { { .fd = fake->stop, .events = POLLIN },
                                     { .fd = fake->fd, .events = POLLIN },
                                     { .fd = fake->upstream, .events = POLLIN } };

        if (poll(pollers, 3, -1) < 0 && errno != EINTR)
            return false;
        ok = !pollers[0].revents;
        if (pollers[1].revents)
            open = pass(fake, fake->fd, fake->upstream, &up);
        if (open && pollers[2].revents)
            open = pass(fake, fake->upstream, fake->fd, &down);
    }
    ok = ok && fake->upstream >= 0 && let_finish(fake);
    fake_cut(fake);
    return ok;
}
