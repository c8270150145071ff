/* node.c: runs redis-server processes on ports. */
#include "node.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int node_folder(char folder[NODE_FOLDER], const char *name)
{
    const char *parent = getenv("TMPDIR");

    if (!parent || strlen(parent) + strlen(name) + sizeof "/-XXXXXX" > NODE_FOLDER)
        parent = "/tmp";
    snprintf(folder, NODE_FOLDER, "%s/%s-XXXXXX", parent, name);
    if (mkdtemp(folder))
        return 0;
    printf("# mkdtemp %s: %s\n", folder, strerror(errno));
    *folder = '\0';
    return -1;
}

FILE *node_config(const char *folder, const char *name, unsigned port)
{
    char path[128];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        return NULL;
    snprintf(path, sizeof path, "%s/%s/conf", folder, name);
    file = fopen(path, "we");
    if (file)
        fprintf(file, "port %u\nbind 127.0.0.1\ndaemonize no\nlogfile log\n", port);
    return file;
}

/* The parent may have died before the signal was asked for. */
pid_t node_start(const char *folder, const char *name, const char *option)
{
    const char *program = getenv("REDIS_SERVER");
    pid_t parent = getpid(), pid = fork();
    sigset_t none;
    char path[128];
    int null;

    if (pid)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    null = open("/dev/null", O_RDWR);
    if (getppid() != parent || null < 0 || chdir(path) < 0)
        _exit(127);
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    if (null > STDERR_FILENO)
        close(null);
    if (!program)
        program = "redis-server";
    execlp(program, program, "conf", option, (char *)NULL);
    _exit(127);
}

void node_end(pid_t *pid)
{
    if (*pid <= 0)
        return;
    kill(*pid, SIGKILL);
    waitpid(*pid, NULL, 0);
    *pid = 0;
}

redisContext *node_connect(unsigned port)
{
    const struct timeval wait = { 2, 0 };
    redisContext *redis = redisConnectWithTimeout("127.0.0.1", (int)port, wait);

    if (redis && (redis->err || redisSetTimeout(redis, wait) != REDIS_OK)) {
        redisFree(redis);
        redis = NULL;
    }
    return redis;
}

redisReply *node_ask_list(unsigned port, const char *format, va_list args)
{
    redisContext *redis = node_connect(port);
    redisReply *reply = redis ? redisvCommand(redis, format, args) : NULL;

    if (redis)
        redisFree(redis);
    return reply;
}

redisReply *node_ask(unsigned port, const char *format, ...)
{
    va_list args;
    redisReply *reply;

    va_start(args, format);
    reply = node_ask_list(port, format, args);
    va_end(args);
    return reply;
}

bool node_good(unsigned port, const char *command, const redisReply *reply)
{
    bool good = reply && reply->type != REDIS_REPLY_ERROR;

    if (!good)
        printf("# %u: %s: %s\n", port, command, reply ? reply->str : "no answer");
    return good;
}

bool node_do(unsigned port, const char *command)
{
    redisReply *reply = node_ask(port, command);
    bool good = node_good(port, command, reply);

    freeReplyObject(reply);
    return good;
}

static bool in_pairs(const redisReply *reply, const char *name, const char *value)
{
    for (size_t i = 0; i < reply->elements; i++) {
        const redisReply *at = reply->element[i];

        if (at->type == REDIS_REPLY_STRING && strcmp(at->str, name) == 0 &&
            (!value || (i + 1 < reply->elements && strcmp(reply->element[i + 1]->str, value) == 0)))
            return true;
    }
    return false;
}

bool node_says(unsigned port, const char *command, const char *name, const char *value)
{
    redisReply *reply = node_ask(port, command);
    bool found = false;

    if (reply && reply->type == REDIS_REPLY_STRING)
        found = strstr(reply->str, name) != NULL;
    else if (reply && reply->type == REDIS_REPLY_ARRAY)
        found = in_pairs(reply, name, value);
    freeReplyObject(reply);
    return found;
}

int node_clients(unsigned port, const char *name)
{
    redisReply *reply = node_ask(port, "CLIENT LIST");
    char field[64];
    int count = -1;

    snprintf(field, sizeof field, " name=%s", name);
    if (reply && reply->type == REDIS_REPLY_STRING) {
        count = 0;
        for (const char *at = reply->str; (at = strstr(at, field)); at++)
            count++;
    }
    freeReplyObject(reply);
    return count;
}

/* Returns until when: at least half a minute, and longer on a busy machine. */
static double node_until(double seconds)
{
    double busy = 0;

    getloadavg(&busy, 1);
    busy = fmax(busy / (double)sysconf(_SC_NPROCESSORS_ONLN), 1);
    return later_clock() + fmax(seconds * busy, 30);
}

/* It asks less and less often: to ask a whole set costs a connection to each. */
bool node_await(bool (*done)(void *), void *what, double seconds)
{
    struct timespec pause = { .tv_nsec = 10 * 1000 * 1000 };
    double until = node_until(seconds);

    for (;;) {
        if (done(what))
            return true;
        if (later_clock() >= until)
            return false;
        nanosleep(&pause, NULL);
        if (pause.tv_nsec < 80 * 1000 * 1000)
            pause.tv_nsec += pause.tv_nsec / 4;
    }
}
