/* arena.c: a Redis and laterds for a test. */
#include "arena.h"

#include "tests/support/folder.h"
#include "redis/slot.h"
#include "supervisor/process.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define READY_SECONDS 20.0
#define STOP_SECONDS  20.0

double arena_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void arena_sleep(double seconds)
{
    struct timespec t = { (time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9) };

    if (seconds > 0)
        nanosleep(&t, NULL);
}

unsigned arena_random(unsigned n)
{
    return (unsigned)random() % n;
}

static void touch(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

    if (fd >= 0)
        close(fd);
}

static void append(const char *path, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void append(const char *path, const char *format, ...)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    va_list args;

    va_start(args, format);
    vdprintf(fd, format, args);
    va_end(args);
    close(fd);
}

/* --- from the beginning to the end --- */

int arena_open(struct arena *arena, const char *redis_options)
{
    memset(arena, 0, sizeof *arena);
    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGPIPE, SIG_IGN);
    if (server_start(&arena->redis, redis_options) < 0)
        return -1;
    strcpy(arena->folder, "/tmp/later-arena-XXXXXX");
    if (!mkdtemp(arena->folder)) {
        server_stop(&arena->redis);
        return -1;
    }
    snprintf(arena->trace, sizeof arena->trace, "%s/trace", arena->folder);
    snprintf(arena->pushed, sizeof arena->pushed, "%s/pushed", arena->folder);
    snprintf(arena->faults, sizeof arena->faults, "%s/faults", arena->folder);
    touch(arena->trace);
    touch(arena->pushed);
    touch(arena->faults);
    snprintf(arena->url, sizeof arena->url, "unix:%s", arena->redis.socket);
    return 0;
}

void arena_close(struct arena *arena)
{
    for (int n = 0; n < ARENA_HOSTS; n++) {
        if (arena->hosts[n].pid)
            arena_kill(arena, n, true);
    }
    arena_proxy_end(arena);
    later_client_close(arena->client);
    if (arena->direct)
        redisFree(arena->direct);
    server_stop(&arena->redis);
    if (arena->folder[0] && !getenv("LATER_KEEP"))
        folder_remove(arena->folder);
    else if (arena->folder[0])
        printf("# kept: %s\n", arena->folder);
}

/* --- laterd --- */

/* The top of the built tree; as laterd wants its plugins, from the root. */
static const char *built(void)
{
    static char path[PATH_MAX];
    const char *top = getenv("top_builddir");

    return path[0] || realpath(top ? top : ".", path) ? path : ".";
}

static int write_config(struct arena *arena, int n, const char *options)
{
    FILE *file;

    snprintf(arena->hosts[n].config, sizeof arena->hosts[n].config, "%s/%d.conf", arena->folder, n);
    snprintf(arena->hosts[n].log, sizeof arena->hosts[n].log, "%s/%d.log", arena->folder, n);
    file = fopen(arena->hosts[n].config, "we");
    if (!file)
        return -1;
    fprintf(file,
            "redis = { url = \"%s\"; };\n"
            "state_dir = \"%s/state%d\";\n"
            "plugins = { dir = \"%s/tests/faults\"; load = ( \"trace\" );\n"
            "    config = { trace = { file = \"%s\"; }; }; };\n"
            "%s\n",
            arena->url, arena->folder, n, built(), arena->trace, options ? options : "");
    return fclose(file);
}

static void become_laterd(const struct arena *arena, int n, pid_t parent)
{
    char program[PATH_MAX + 20];
    int log = open(arena->hosts[n].log, O_WRONLY | O_CREAT | O_APPEND, 0644);

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || log < 0)
        _exit(127);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    process_close_from(3);
    if (arena->preload)
        setenv("LD_PRELOAD", arena->preload, 1);
    snprintf(program, sizeof program, "%s/daemon/laterd", built());
    execl(program, program, "-c", arena->hosts[n].config, (char *)NULL);
    _exit(127);
}

int arena_again(struct arena *arena, int n)
{
    pid_t parent = getpid(), pid;

    if (truncate(arena->hosts[n].log, 0) < 0 && errno != ENOENT)
        return -1;
    pid = fork();
    if (pid == 0)
        become_laterd(arena, n, parent);
    arena->hosts[n].pid = pid > 0 ? pid : 0;
    return pid > 0 ? 0 : -1;
}

size_t arena_logged(const struct arena *arena, int n, const char *text)
{
    FILE *file = fopen(arena->hosts[n].log, "re");
    char line[5000];
    size_t found = 0;

    while (file && fgets(line, sizeof line, file))
        found += strstr(line, text) != NULL;
    if (file)
        fclose(file);
    return found;
}

static void show_log(const struct arena *arena, int n)
{
    FILE *file = fopen(arena->hosts[n].log, "re");
    char line[5000];

    while (file && fgets(line, sizeof line, file))
        printf("# laterd %d: %s", n, line);
    if (file)
        fclose(file);
}

int arena_wait_ready(struct arena *arena, int n)
{
    double until = arena_until(READY_SECONDS);

    while (arena_now() < until && arena_alive(arena, n)) {
        if (arena_logged(arena, n, "ready:"))
            return 0;
        arena_sleep(0.005);
    }
    show_log(arena, n);
    return -1;
}

int arena_reload(struct arena *arena, int n, const char *options)
{
    if (write_config(arena, n, options) < 0)
        return -1;
    return kill(arena->hosts[n].pid, SIGHUP);
}

int arena_start(struct arena *arena, int n, const char *options)
{
    if (write_config(arena, n, options) < 0 || arena_again(arena, n) < 0)
        return -1;
    return arena_wait_ready(arena, n);
}

bool arena_alive(struct arena *arena, int n)
{
    int status = 0;

    if (arena->hosts[n].pid && waitpid(arena->hosts[n].pid, &status, WNOHANG) == 0)
        return true;
    if (arena->hosts[n].pid)
        printf("# laterd %d ended: %s %d\n", n, WIFSIGNALED(status) ? "signal" : "status",
               WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    arena->hosts[n].pid = 0;
    return false;
}

int arena_stop(struct arena *arena, int n)
{
    double until = arena_until(STOP_SECONDS);
    int status;

    if (!arena->hosts[n].pid)
        return -1;
    kill(arena->hosts[n].pid, SIGTERM);
    while (arena_now() < until) {
        if (waitpid(arena->hosts[n].pid, &status, WNOHANG) > 0) {
            arena->hosts[n].pid = 0;
            if (WIFSIGNALED(status))
                printf("# laterd %d was killed by signal %d\n", n, WTERMSIG(status));
            return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        }
        arena_sleep(0.01);
    }
    show_log(arena, n);
    arena_kill(arena, n, true);
    return -1;
}

void arena_kill(struct arena *arena, int n, bool all)
{
    pid_t workers[64];
    size_t count = all ? arena_workers(arena, n, workers, 64) : 0;

    if (!arena->hosts[n].pid)
        return;
    kill(arena->hosts[n].pid, SIGKILL);
    for (size_t i = 0; i < count; i++)
        kill(workers[i], SIGKILL);
    while (waitpid(arena->hosts[n].pid, NULL, 0) < 0 && errno == EINTR) {
    }
    arena->hosts[n].pid = 0;
}

static bool is_worker(int pid)
{
    char path[64], name[32] = "";
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/comm", pid);
    file = fopen(path, "re");
    if (!file)
        return false;
    if (!fgets(name, sizeof name, file))
        name[0] = '\0';
    fclose(file);
    return strncmp(name, "worker", 6) == 0;
}

size_t arena_workers(const struct arena *arena, int n, pid_t *pids, size_t most)
{
    char path[64];
    size_t count = 0;
    FILE *file;
    int pid;

    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)arena->hosts[n].pid,
             (int)arena->hosts[n].pid);
    file = fopen(path, "re");
    while (file && count < most && fscanf(file, "%d", &pid) == 1) {
        if (is_worker(pid))
            pids[count++] = pid;
    }
    if (file)
        fclose(file);
    return count;
}

/* --- pushing --- */

static struct later_client *client_of(struct arena *arena)
{
    struct later_error err;

    if (!arena->client)
        arena->client = later_client_open(arena->url, &err);
    return arena->client;
}

/* Only a refused push is repeated. If the outcome is unknown, a second call might push a job that
 * is done by then. */
int arena_push_in(struct arena *arena, const char *queue, const struct later_new_job *job,
                  double due)
{
    double until = arena_until(10);
    struct later_error err;
    bool refused;

    do {
        if (later_push(client_of(arena), queue, job, NULL, NULL, &err) == 0) {
            append(arena->pushed, "ok %s %.6f\n", job->id, due);
            return 0;
        }
        refused = err.code != LATER_E_REDIS || strstr(err.text, "refuses");
        if (err.code == LATER_E_REDIS)
            arena_sleep(0.05);
    } while (refused && err.code == LATER_E_REDIS && arena_now() < until);
    append(arena->pushed, "%s %s %.6f\n", refused ? "no" : "maybe", job->id, due);
    return -1;
}

int arena_push_job(struct arena *arena, const struct later_new_job *job, double due)
{
    return arena_push_in(arena, "default", job, due);
}

int arena_push(struct arena *arena, const char *id, const char *type, const char *payload)
{
    char quoted[128];
    const struct later_new_job job = { .id = id, .type = type, .payload = quoted };

    snprintf(quoted, sizeof quoted, "\"%s\"", payload);
    return arena_push_job(arena, &job, 0);
}

void arena_fault(struct arena *arena, double start, const char *what)
{
    append(arena->faults, "%.6f %.6f %s\n", start, arena_now(), what);
}

/* A document that no handler can have: adopted, then buried. */
static void push_junk(struct arena *arena, const char *id)
{
    redisContext *redis = arena_redis(arena);

    if (redis)
        freeReplyObject(redisCommand(redis, "ZADD later:{default}:ready 1 {\"junk\":\"%s\"", id));
}

/* The next id of a producer, of those that fall into its shard. */
static unsigned next_id(const struct produce *what, unsigned number, char id[TALLY_ID])
{
    do
        snprintf(id, TALLY_ID, "%s-%u", what->prefix, number++);
    while (what->shards && later_slot_crc16(id, strlen(id)) % what->shards != what->shard);
    return number;
}

/* Another type, or a group, by chance; the end of the id says which. Also another priority, or a
 * result that stays. */
static void mix(struct later_new_job *job, char id[TALLY_ID])
{
    static const char *const types[] = { "trace.event", "trace.lone", "trace.few",
                                         "trace.limited" };
    static const char *const groups[] = { ".ann", ".bob", ".cy" };

    if (arena_random(2)) {
        job->type = types[arena_random(sizeof types / sizeof *types)];
        strcat(id, strchr(job->type, '.'));
    } else {
        const char *group = groups[arena_random(sizeof groups / sizeof *groups)];

        job->group = group + 1;
        strcat(id, group);
    }
    job->priority = arena_random(4) ? 0 : (int32_t)arena_random(3) - 1;
    job->result = arena_random(4) ? 0 : 60;
}

static unsigned push_one(struct arena *arena, const struct produce *what, unsigned number)
{
    char id[TALLY_ID], payload[32];
    struct later_new_job job = { .id = id, .type = "trace", .payload = payload };
    unsigned dice = arena_random(1000);
    double due = 0;

    number = next_id(what, number, id);
    snprintf(payload, sizeof payload, "\"sleep %u\"",
             what->slow_ms ? arena_random(what->slow_ms) : 0);
    if (what->mixed && arena_random(100) < what->mixed)
        mix(&job, id);
    if (arena_random(100) < what->delayed) {
        job.in = 0.001 * arena_random(5000) + 0.001;
        due = arena_now() + job.in;
    }
    if (dice < what->crash) {
        strcpy(payload, "\"crash 5\"");
    } else if (dice < what->crash + what->hang) {
        strcpy(payload, "\"hang\"");
        job.max_attempts = 2; /* each takes its worker for all its time */
    } else if (arena_random(100) < what->fail) {
        strcpy(payload, "\"fail\"");
    }
    if (arena_random(100) < what->junk)
        push_junk(arena, id);
    arena_push_in(arena, what->queue ? what->queue : "default", &job, due);
    return number;
}

static volatile sig_atomic_t enough;

static void on_enough(int number)
{
    (void)number;
    enough = 1;
}

pid_t arena_produce(struct arena *arena, const struct produce *what)
{
    pid_t parent = getpid(), pid = fork();
    double start = arena_now();
    unsigned number = 0, pushed = 0;

    if (pid)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    srandom(what->seed);
    arena->client = NULL; /* the parent's connections are the parent's */
    arena->direct = NULL;
    signal(SIGTERM, on_enough);
    while (!enough && arena_now() < start + what->seconds) {
        for (unsigned i = 0; i < what->burst; i++, pushed++)
            number = push_one(arena, what, number);
        arena_sleep(start + pushed / what->rate - arena_now());
    }
    _exit(0);
}

void arena_produced(pid_t pid)
{
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
}

bool arena_enter(struct arena *arena, const char *redis_options, const char *options)
{
    if (arena_open(arena, redis_options) == 0 && arena_start(arena, 0, options) == 0)
        return true;
    tap_ok(false, "an arena");
    arena_close(arena);
    return false;
}

void arena_signal(struct arena *arena, int n, int number)
{
    pid_t pids[16];
    size_t count = arena_workers(arena, n, pids, 16);

    kill(arena->hosts[n].pid, number);
    for (size_t i = 0; i < count; i++)
        kill(pids[i], number);
}

void arena_go(const struct arena *arena)
{
    char path[sizeof arena->trace + 4];
    FILE *file;

    snprintf(path, sizeof path, "%s.go", arena->trace);
    file = fopen(path, "we");
    if (file)
        fclose(file);
}

/* --- looking --- */

redisContext *arena_redis(struct arena *arena)
{
    if (arena->direct && arena->direct->err) {
        redisFree(arena->direct);
        arena->direct = NULL;
    }
    if (!arena->direct)
        arena->direct = server_connect(&arena->redis);
    return arena->direct;
}

static redisReply *command(struct arena *arena, const char *format, va_list args)
{
    redisContext *redis = arena_redis(arena);

    return redis ? redisvCommand(redis, format, args) : NULL;
}

long long arena_ask(struct arena *arena, const char *format, ...)
{
    va_list args;
    redisReply *reply;
    long long number = -1;

    va_start(args, format);
    reply = command(arena, format, args);
    va_end(args);
    if (reply && reply->type == REDIS_REPLY_INTEGER)
        number = reply->integer;
    else if (reply && reply->type == REDIS_REPLY_STRING)
        number = atoll(reply->str);
    else if (reply && reply->type == REDIS_REPLY_NIL)
        number = 0;
    freeReplyObject(reply);
    return number;
}

bool arena_do(struct arena *arena, const char *format, ...)
{
    va_list args;
    redisReply *reply;
    bool good;

    va_start(args, format);
    reply = command(arena, format, args);
    va_end(args);
    good = reply && reply->type != REDIS_REPLY_ERROR;
    if (!good)
        printf("# %s: %s\n", format, reply ? reply->str : "no answer");
    freeReplyObject(reply);
    return good;
}

/* Redis may not have begun the script yet, so it is asked to end it until there is its answer. */
static bool end_script(redisContext *busy, redisContext *other)
{
    struct pollfd answer = { .fd = busy->fd, .events = POLLIN };
    double until = arena_until(10);
    redisReply *reply = NULL;
    bool over = false;

    while (!over && arena_now() < until) {
        freeReplyObject(redisCommand(other, "SCRIPT KILL"));
        over = poll(&answer, 1, 50) > 0;
    }
    over = over && redisGetReply(busy, (void **)&reply) == REDIS_OK;
    freeReplyObject(reply);
    return over;
}

bool arena_occupy(struct arena *arena, double seconds)
{
    bool ready = arena_do(arena, "CONFIG SET busy-reply-threshold 100");
    redisContext *busy = arena_redis(arena), *other = server_connect(&arena->redis);
    int sent = 0;

    if (ready && busy && other && redisAppendCommand(busy, "EVAL %s 0", "while true do end") == 0) {
        while (!sent && redisBufferWrite(busy, &sent) == REDIS_OK)
            ;
        arena_sleep(seconds);
        ready = end_script(busy, other);
    }
    if (other)
        redisFree(other);
    return ready && sent;
}

double arena_busy(void)
{
    double processes = 0;

    getloadavg(&processes, 1);
    return fmax(processes / (double)sysconf(_SC_NPROCESSORS_ONLN), 1);
}

double arena_until(double seconds)
{
    return arena_now() + (seconds > 0 ? fmax(seconds * arena_busy(), 30) : 0);
}

bool arena_soon(double took, double limit)
{
    return took <= limit * arena_busy() + 10;
}

bool arena_drained(struct arena *arena, double seconds)
{
    /* At one moment: what lapses between two questions is in none of the answers. */
    static const char all[] = "local n = 0 for _, set in ipairs({'ready', 'delayed', 'reserved'}) "
                              "do n = n + redis.call('ZCARD', 'later:{default}:' .. set) end "
                              "return n";
    double until = arena_until(seconds);

    while (arena_now() < until) {
        if (arena_ask(arena, "EVAL %s 0", all) == 0)
            return true;
        arena_sleep(0.02);
    }
    printf("# not drained: ready %lld, delayed %lld, reserved %lld\n",
           arena_ask(arena, "ZCARD later:{default}:ready"),
           arena_ask(arena, "ZCARD later:{default}:delayed"),
           arena_ask(arena, "ZCARD later:{default}:reserved"));
    return false;
}

double arena_seen(const struct arena *arena, const char *line, size_t nth, double seconds)
{
    double until = arena_until(seconds);
    char text[500];

    do {
        FILE *file = fopen(arena->trace, "re");
        size_t found = 0;

        while (file && fgets(text, sizeof text, file))
            found += strncmp(text, line, strlen(line)) == 0;
        if (file)
            fclose(file);
        if (found >= nth)
            return arena_now();
        arena_sleep(0.003);
    } while (arena_now() < until);
    return 0;
}

int arena_tally(struct arena *arena, struct tally *tally)
{
    static const char *const queues[] = { "default", NULL };
    redisContext *redis = arena_redis(arena);

    if (!redis || tally_take(tally, arena->pushed, arena->trace, arena->faults, &redis, queues) < 0)
        return -1;
    tally_print(tally);
    return 0;
}
