/*
 * order_shim.c: LD_PRELOAD: notes in the file $ORDER_LOG, a line each and in their order, what a
 * process reads from sockets and writes to sockets and pipes: `PID got TEXT`, `PID sent TEXT`, `PID
 * piped TEXT`. So a test sees what comes before what, however long each takes. TEXT: the first
 * 4,000 bytes, with a dot for what is not printable.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define SHIM(name)                                                                                 \
    static __typeof__(&name) next;                                                                 \
    if (!next)                                                                                     \
    *(void **)&next = dlsym(RTLD_NEXT, #name)

static ssize_t order_write(int fd, const void *bytes, size_t len)
{
    SHIM(write);
    return next(fd, bytes, len);
}

static bool is_pipe(int fd)
{
    struct stat about;

    return fstat(fd, &about) == 0 && S_ISFIFO(about.st_mode);
}

/* One write for each line: the file is for all processes. */
static void note(const char *what, const struct iovec *pieces, size_t count)
{
    const char *path = getenv("ORDER_LOG");
    char line[4096];
    size_t len, room = sizeof line - 1;
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;

    if (fd < 0)
        return;
    len = (size_t)snprintf(line, room, "%d %s ", (int)getpid(), what);
    for (size_t i = 0; i < count; i++) {
        const char *bytes = pieces[i].iov_base;

        for (size_t k = 0; k < pieces[i].iov_len && len < room; k++)
            line[len++] = bytes[k] < ' ' || bytes[k] > '~' ? '.' : bytes[k];
    }
    line[len++] = '\n';
    (void)!order_write(fd, line, len);
    close(fd);
}

static void note_bytes(const char *what, const void *bytes, ssize_t len)
{
    if (len > 0)
        note(what, &(struct iovec){ (void *)bytes, (size_t)len }, 1);
}

ssize_t write(int fd, const void *bytes, size_t len)
{
    ssize_t written = order_write(fd, bytes, len);

    if (written > 0 && is_pipe(fd))
        note_bytes("piped", bytes, written);
    return written;
}

ssize_t send(int fd, const void *bytes, size_t len, int flags)
{
    SHIM(send);
    ssize_t sent = next(fd, bytes, len, flags);

    note_bytes("sent", bytes, sent);
    return sent;
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    SHIM(sendmsg);
    ssize_t sent = next(fd, message, flags);

    if (sent > 0)
        note("sent", message->msg_iov, message->msg_iovlen);
    return sent;
}

ssize_t recv(int fd, void *bytes, size_t room, int flags)
{
    SHIM(recv);
    ssize_t got = next(fd, bytes, room, flags);

    note_bytes("got", bytes, got);
    return got;
}

/* What recv() is where the build fortifies. */
ssize_t __recv_chk(int fd, void *bytes, size_t room, size_t size, int flags);
ssize_t __recv_chk(int fd, void *bytes, size_t room, size_t size, int flags)
{
    SHIM(__recv_chk);
    ssize_t got = next(fd, bytes, room, size, flags);

    note_bytes("got", bytes, got);
    return got;
}
