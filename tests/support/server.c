/* server.c: starts and stops a redis-server for a test. */
#include "server.h"

#include "folder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CLOCK_BYTES (2 * sizeof(int64_t))
#define START_TRIES 2000 /* of 5 ms: for a loaded machine, valgrind, a large append-only file */

static const char defaults[] = "port 0\n"
                               "unixsocket socket\n"
                               "unixsocketperm 600\n"
                               "save \"\"\n"
                               "appendonly no\n"
                               "daemonize no\n"
                               "logfile log\n"
                               "maxmemory-policy noeviction\n";

static void complain(const struct server *server, const char *what)
{
    fprintf(stderr, "redis-server in %s: %s: %s\n", server->folder, what, strerror(errno));
}

static int write_config(const struct server *server, const char *options)
{
    char path[96];
    FILE *file;

    snprintf(path, sizeof path, "%s/redis.conf", server->folder);
    file = fopen(path, "w");
    if (!file)
        return -1;
    fputs(defaults, file);
    if (options)
        fputs(options, file);
    return fclose(file);
}

/* Where its clock is; a mapping that a fork shares. */
static int make_clock(struct server *server)
{
    char path[96];
    void *map;
    int fd;

    snprintf(path, sizeof path, "%s/clock", server->folder);
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return -1;
    if (ftruncate(fd, CLOCK_BYTES) < 0) {
        close(fd);
        return -1;
    }
    map = mmap(NULL, CLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    server->ahead = map == MAP_FAILED ? NULL : map;
    return server->ahead ? 0 : -1;
}

/* In the child. */
static void preload_clock(void)
{
    const char *top = getenv("top_builddir");
    char path[512], *shim;

    snprintf(path, sizeof path, "%s/tests/support/clock_shim.so", top ? top : ".");
    shim = realpath(path, NULL);
    if (!shim) {
        perror(path);
        _exit(127);
    }
    setenv("LD_PRELOAD", shim, 1);
    setenv("CLOCK_SHIFT", "clock", 1);
}

/* In the child. Its parent may have died before the signal was asked for. */
static void become_server(const struct server *server, pid_t parent)
{
    const char *program = getenv("REDIS_SERVER");
    int null = open("/dev/null", O_RDWR);

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (server->ahead)
        preload_clock();
    if (getppid() != parent || null < 0 || chdir(server->folder) < 0)
        _exit(127);
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO); /* TAP goes there */
    if (null > STDERR_FILENO)
        close(null);
    if (!program)
        program = "redis-server";
    execlp(program, program, "redis.conf", (char *)NULL);
    _exit(127);
}

static bool answers(const struct server *server)
{
    redisContext *redis = server_connect(server);
    redisReply *reply = redis ? redisCommand(redis, "PING") : NULL;
    bool pong = reply && reply->type == REDIS_REPLY_STATUS;

    freeReplyObject(reply);
    if (redis)
        redisFree(redis);
    return pong;
}

int server_again(struct server *server)
{
    const struct timespec pause = { .tv_nsec = 5 * 1000 * 1000 };
    pid_t parent = getpid();

    unlink(server->socket);
    server->pid = fork();
    if (server->pid == 0)
        become_server(server, parent);
    if (server->pid < 0) {
        server->pid = 0;
        complain(server, "fork");
        return -1;
    }
    for (int i = 0; i < START_TRIES; i++) {
        if (answers(server))
            return 0;
        if (waitpid(server->pid, NULL, WNOHANG) == server->pid) {
            server->pid = 0;
            break;
        }
        nanosleep(&pause, NULL);
    }
    errno = ETIMEDOUT;
    complain(server, "does not start");
    return -1;
}

static int start(struct server *server, const char *options, bool with_clock)
{
    const char *parent = getenv("TMPDIR");

    memset(server, 0, sizeof *server);
    if (!parent || strlen(parent) > 30)
        parent = "/tmp";
    snprintf(server->folder, sizeof server->folder, "%s/later-redis-XXXXXX", parent);
    if (!mkdtemp(server->folder)) {
        complain(server, "mkdtemp");
        return -1;
    }
    snprintf(server->socket, sizeof server->socket, "%s/socket", server->folder);
    if ((!with_clock || make_clock(server) == 0) && write_config(server, options) == 0 &&
        server_again(server) == 0)
        return 0;
    server_stop(server);
    return -1;
}

int server_start(struct server *server, const char *options)
{
    return start(server, options, false);
}

int server_start_with_clock(struct server *server, const char *options)
{
    return start(server, options, true);
}

void server_advance(struct server *server, double seconds)
{
    *server->ahead += (int64_t)(seconds * 1e6);
}

void server_stand_still(struct server *server)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    server->ahead[1] = (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

void server_end(struct server *server, int number)
{
    if (server->pid == 0)
        return;
    kill(server->pid, number);
    while (waitpid(server->pid, NULL, 0) < 0 && errno == EINTR) {
    }
    server->pid = 0;
}

void server_stop(struct server *server)
{
    server_end(server, SIGKILL);
    if (server->ahead)
        munmap(server->ahead, CLOCK_BYTES);
    server->ahead = NULL;
    folder_remove(server->folder);
}

redisContext *server_connect(const struct server *server)
{
    redisContext *redis = redisConnectUnix(server->socket);

    if (redis && redis->err) {
        redisFree(redis);
        return NULL;
    }
    return redis;
}
