/* sentinels.c: three Redis servers, three Sentinels. */
#include "sentinels.h"

#include "arena.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ftw.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define START_SECONDS 30.0

/* Six ports that are free: all are held until all are known. */
static int find_ports(struct sentinels *set)
{
    int fds[2 * SENTINELS_EACH], found = 0;

    for (int i = 0; i < 2 * SENTINELS_EACH; i++) {
        struct sockaddr_in in = { .sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        socklen_t len = sizeof in;

        fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fds[i] < 0 || bind(fds[i], (struct sockaddr *)&in, sizeof in) < 0 ||
            getsockname(fds[i], (struct sockaddr *)&in, &len) < 0)
            continue;
        found++;
        if (i < SENTINELS_EACH)
            set->redis_port[i] = ntohs(in.sin_port);
        else
            set->sentinel_port[i - SENTINELS_EACH] = ntohs(in.sin_port);
    }
    for (int i = 0; i < 2 * SENTINELS_EACH; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
    }
    return found == 2 * SENTINELS_EACH ? 0 : -1;
}

static FILE *config_of(const struct sentinels *set, const char *kind, int n, unsigned port)
{
    char path[128];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s%d", set->folder, kind, n);
    if (mkdir(path, 0700) < 0)
        return NULL;
    strcat(path, "/conf");
    file = fopen(path, "we");
    if (file)
        fprintf(file, "port %u\nbind 127.0.0.1\ndaemonize no\nlogfile log\n", port);
    return file;
}

/* The replicas have a user of their own, so that they can be cut off from their master alone. */
static int write_redis(const struct sentinels *set, int n, const char *options)
{
    FILE *file = config_of(set, "redis", n, set->redis_port[n]);

    if (!file)
        return -1;
    fprintf(file,
            "save \"\"\nappendonly no\nrepl-diskless-sync-delay 0\nrepl-ping-replica-period 1\n"
            "user copier on >copy ~* &* +psync +replconf +ping\nmasteruser copier\n"
            "masterauth copy\n%s",
            options ? options : "");
    if (n > 0)
        fprintf(file, "replicaof 127.0.0.1 %u\n", set->redis_port[0]);
    return fclose(file);
}

static int write_sentinel(const struct sentinels *set, int n)
{
    FILE *file = config_of(set, "sentinel", n, set->sentinel_port[n]);

    if (!file)
        return -1;
    fprintf(file,
            "sentinel monitor " SENTINELS_MASTER " 127.0.0.1 %u 2\n"
            "sentinel down-after-milliseconds " SENTINELS_MASTER " %.0f\n"
            "sentinel failover-timeout " SENTINELS_MASTER " 10000\n",
            set->redis_port[0], SENTINELS_DOWN * 1000);
    return fclose(file);
}

static pid_t start(const struct sentinels *set, const char *kind, int n, const char *option)
{
    pid_t parent = getpid(), pid = fork();
    char path[128];
    int null;

    if (pid)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    snprintf(path, sizeof path, "%s/%s%d", set->folder, kind, n);
    null = open("/dev/null", O_RDWR);
    if (getppid() != parent || null < 0 || chdir(path) < 0)
        _exit(127);
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    execlp("redis-server", "redis-server", "conf", option, (char *)NULL);
    _exit(127);
}

redisContext *sentinels_connect(unsigned port)
{
    const struct timeval wait = { 2, 0 };
    redisContext *redis = redisConnectWithTimeout("127.0.0.1", (int)port, wait);

    if (redis && (redis->err || redisSetTimeout(redis, wait) != REDIS_OK)) {
        redisFree(redis);
        redis = NULL;
    }
    return redis;
}

static redisReply *ask(unsigned port, const char *command)
{
    redisContext *redis = sentinels_connect(port);
    redisReply *reply = redis ? redisCommand(redis, command) : NULL;

    if (redis)
        redisFree(redis);
    return reply;
}

bool sentinels_do(unsigned port, const char *command)
{
    redisReply *reply = ask(port, command);
    bool good = reply && reply->type != REDIS_REPLY_ERROR;

    if (!good)
        printf("# %u: %s: %s\n", port, command, reply ? reply->str : "no answer");
    freeReplyObject(reply);
    return good;
}

/* Is a text in the answer, a string or a list of strings as pairs "name value"? */
static bool says(unsigned port, const char *command, const char *name, const char *value)
{
    redisReply *reply = ask(port, command);
    bool found = false;

    if (reply && reply->type == REDIS_REPLY_STRING)
        found = strstr(reply->str, name) != NULL;
    for (size_t i = 0; reply && reply->type == REDIS_REPLY_ARRAY && i < reply->elements; i++) {
        const redisReply *at = reply->element[i];

        if (at->type == REDIS_REPLY_STRING && strcmp(at->str, name) == 0)
            found = !value ||
                    (i + 1 < reply->elements && strcmp(reply->element[i + 1]->str, value) == 0);
    }
    freeReplyObject(reply);
    return found;
}

static bool copied(const struct sentinels *set)
{
    return says(set->redis_port[0], "INFO replication", "connected_slaves:2", NULL) &&
           says(set->redis_port[0], "INFO replication", "slave0:ip=127.0.0.1", NULL) &&
           says(set->redis_port[1], "INFO replication", "master_link_status:up", NULL) &&
           says(set->redis_port[2], "INFO replication", "master_link_status:up", NULL);
}

static bool acquainted(const struct sentinels *set)
{
    const char *const command = "SENTINEL MASTER " SENTINELS_MASTER;

    for (int i = 0; i < SENTINELS_EACH; i++) {
        if (!says(set->sentinel_port[i], command, "num-slaves", "2") ||
            !says(set->sentinel_port[i], command, "num-other-sentinels", "2"))
            return false;
    }
    return true;
}

static bool await(bool (*true_now)(const struct sentinels *), const struct sentinels *set)
{
    double until = arena_now() + START_SECONDS;

    while (arena_now() < until) {
        if (true_now(set))
            return true;
        arena_sleep(0.05);
    }
    return false;
}

static int start_all(struct sentinels *set, const char *options)
{
    for (int i = 0; i < SENTINELS_EACH; i++) {
        if (write_redis(set, i, options) < 0 || write_sentinel(set, i) < 0)
            return -1;
        set->redis[i] = start(set, "redis", i, NULL);
    }
    if (!await(copied, set))
        return -1;
    for (int i = 0; i < SENTINELS_EACH; i++)
        set->sentinel[i] = start(set, "sentinel", i, "--sentinel");
    return await(acquainted, set) ? 0 : -1;
}

int sentinels_open(struct sentinels *set, const char *options)
{
    memset(set, 0, sizeof *set);
    strcpy(set->folder, "/tmp/later-sentinels-XXXXXX");
    if (!mkdtemp(set->folder))
        return -1;
    if (find_ports(set) == 0 && start_all(set, options) == 0) {
        snprintf(set->url, sizeof set->url,
                 "sentinel://127.0.0.1:%u,127.0.0.1:%u,127.0.0.1:%u/" SENTINELS_MASTER,
                 set->sentinel_port[0], set->sentinel_port[1], set->sentinel_port[2]);
        return 0;
    }
    printf("# Redis servers and Sentinels do not start\n");
    sentinels_close(set);
    return -1;
}

static void end(pid_t *pid)
{
    if (*pid <= 0)
        return;
    kill(*pid, SIGKILL);
    waitpid(*pid, NULL, 0);
    *pid = 0;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

void sentinels_close(struct sentinels *set)
{
    for (int i = 0; i < SENTINELS_EACH; i++) {
        end(&set->sentinel[i]);
        end(&set->redis[i]);
    }
    if (set->folder[0])
        nftw(set->folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    set->folder[0] = '\0';
}

int sentinels_master(struct sentinels *set)
{
    redisReply *reply =
        ask(set->sentinel_port[0], "SENTINEL get-master-addr-by-name " SENTINELS_MASTER);
    int which = -1;

    for (int i = 0; reply && reply->type == REDIS_REPLY_ARRAY && i < SENTINELS_EACH; i++) {
        if (atoi(reply->element[1]->str) == (int)set->redis_port[i])
            which = i;
    }
    freeReplyObject(reply);
    return which;
}

int sentinels_await(struct sentinels *set, int old, double seconds)
{
    double until = arena_now() + seconds;

    while (arena_now() < until) {
        int now = sentinels_master(set);

        if (now >= 0 && now != old &&
            says(set->redis_port[now], "INFO replication", "role:master", NULL))
            return now;
        arena_sleep(0.02);
    }
    return -1;
}

int sentinels_clients(unsigned port, const char *name)
{
    redisReply *reply = ask(port, "CLIENT LIST");
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

bool sentinels_cut(struct sentinels *set)
{
    unsigned port = set->redis_port[0];
    double until = arena_now() + 5;

    if (!sentinels_do(port, "ACL SETUSER copier off") ||
        !sentinels_do(port, "CLIENT KILL TYPE replica"))
        return false;
    while (!says(port, "INFO replication", "connected_slaves:0", NULL)) {
        if (arena_now() > until)
            return false;
        arena_sleep(0.02);
    }
    return true;
}
