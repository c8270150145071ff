/* stage.c: starts a redis-server and a laterd for a scenario. */
#include "stage.h"

#include "client/call.h"
#include "tests/support/folder.h"
#include "measure.h"
#include "redis/script.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE 120.0 /* seconds for anything */

bool quick;
const char *jobs_dir = "tests/bench/jobs";

static struct stage *on_stage; /* for the way out */

static void clean_up(void)
{
    if (on_stage)
        stage_close(on_stage);
}

void stage_open(struct stage *stage, const char *options)
{
    static bool registered;

    if (!registered && atexit(clean_up) == 0)
        registered = true;
    memset(stage, 0, sizeof *stage);
    if (getenv("BENCH_MARKS"))
        remove(getenv("BENCH_MARKS")); /* of the stage before */
    strcpy(stage->folder, "/tmp/later-bench-XXXXXX");
    if (!mkdtemp(stage->folder))
        fatal("mkdtemp: %s", strerror(errno));
    on_stage = stage;
    if (server_start(&stage->server, options) < 0)
        fatal("no redis-server");
    snprintf(stage->url, sizeof stage->url, "unix:%s", stage->server.socket);
    later_keys_init(&stage->keys, "later", STAGE_QUEUE);
    stage->redis = server_connect(&stage->server);
    if (!stage->redis)
        fatal("redis-server does not take connections");
}

/* Returns a port that nobody listens on. */
static int free_port(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (fd < 0 || bind(fd, (struct sockaddr *)&address, len) < 0 ||
        getsockname(fd, (struct sockaddr *)&address, &len) < 0)
        fatal("no port on 127.0.0.1");
    close(fd);
    return ntohs(address.sin_port);
}

void stage_open_tcp(struct stage *stage)
{
    char options[64];
    int port = free_port();

    snprintf(options, sizeof options, "port %d\nbind 127.0.0.1\n", port);
    stage_open(stage, options);
    snprintf(stage->url, sizeof stage->url, "redis://127.0.0.1:%d", port);
}

void stage_use_tls(struct stage *stage)
{
    char command[512];
    int port = free_port();

    snprintf(command, sizeof command,
             "cd %s && { [ -e tls.crt ] || openssl req -x509 -newkey ec -pkeyopt "
             "ec_paramgen_curve:prime256v1 -nodes -keyout tls.key -out tls.crt -days 2 -subj "
             "/CN=bench -addext subjectAltName=IP:127.0.0.1 2>/dev/null; }",
             stage->folder);
    if (system(command) != 0)
        fatal("openssl makes no certificate");
    freeReplyObject(stage_ask(stage,
                              "CONFIG SET tls-cert-file %s/tls.crt tls-key-file %s/tls.key "
                              "tls-auth-clients no tls-port %d",
                              stage->folder, stage->folder, port));
    snprintf(stage->url, sizeof stage->url, "rediss://127.0.0.1:%d?ca=%s/tls.crt", port,
             stage->folder);
}

void stage_close(struct stage *stage)
{
    on_stage = NULL;
    stage_stop(stage);
    if (stage->redis)
        redisFree(stage->redis);
    server_stop(&stage->server);
    folder_remove(stage->folder);
}

/* ---- Redis */

static redisReply *ask(struct stage *stage, const char *format, va_list args)
{
    redisReply *reply = redisvCommand(stage->redis, format, args);

    if (!reply)
        fatal("redis-server: %s", stage->redis->errstr);
    if (reply->type == REDIS_REPLY_ERROR)
        fatal("%s: %s", format, reply->str);
    return reply;
}

redisReply *stage_ask(struct stage *stage, const char *format, ...)
{
    redisReply *reply;
    va_list args;

    va_start(args, format);
    reply = ask(stage, format, args);
    va_end(args);
    return reply;
}

double stage_ask_number(struct stage *stage, const char *format, ...)
{
    redisReply *reply;
    double number;
    va_list args;

    va_start(args, format);
    reply = ask(stage, format, args);
    va_end(args);
    number = reply->type == REDIS_REPLY_INTEGER ? (double)reply->integer
             : reply->str                       ? strtod(reply->str, NULL)
                                                : 0;
    freeReplyObject(reply);
    return number;
}

/* Runs a script that takes nothing but the queue's keys. */
static void run_script(struct stage *stage, enum later_script script, const char *queue)
{
    struct later_client *client;
    struct later_command cmd = { 0 };
    struct later_keys keys;
    struct later_error err;
    struct later_reply *reply;

    later_keys_init(&keys, "later", queue ? queue : STAGE_QUEUE);
    client = later_client_open(stage->url, &err);
    if (!client)
        fatal("%s", err.text);
    later_script_begin(&cmd, script, &keys, NULL, 0);
    reply = later_call(client, &cmd, 0, false, &err);
    if (!reply)
        fatal("%s", err.text);
    later_reply_free(reply);
    later_client_close(client);
}

void stage_pause(struct stage *stage, const char *queue)
{
    run_script(stage, LATER_SCRIPT_PAUSE, queue);
}

void stage_resume(struct stage *stage, const char *queue)
{
    run_script(stage, LATER_SCRIPT_RESUME, queue);
}

double stage_done(struct stage *stage)
{
    return stage_ask_number(stage, "HGET %s done", stage->keys.name[LATER_KEY_STATS]);
}

double stage_wait_done(struct stage *stage, double done)
{
    double until = now_monotonic() + PATIENCE;

    while (stage_done(stage) < done) {
        if (now_monotonic() > until)
            fatal("%.0f of %.0f jobs done in %.0f s", stage_done(stage), done, PATIENCE);
        sleep_seconds(0.002);
    }
    return now_monotonic();
}

void stage_flush(struct stage *stage)
{
    freeReplyObject(stage_ask(stage, "FLUSHALL"));
}

/* ---- laterd */

/* Where handlers tell when they began. */
static const char *probe_path(const struct stage *stage, char path[128])
{
    const char *marks = getenv("BENCH_MARKS");

    snprintf(path, 128, marks ? "%s" : "%s/probe", marks ? marks : stage->folder);
    return path;
}

static void write_config(const struct stage *stage, int workers, const char *queues)
{
    const char *program = getenv("BENCH_PROGRAM");
    char path[128], probe[128], dir[4096];
    FILE *file;

    if (!realpath(jobs_dir, dir))
        fatal("%s: %s", jobs_dir, strerror(errno));
    snprintf(path, sizeof path, "%s/laterd.conf", stage->folder);
    file = fopen(path, "we");
    if (!file)
        fatal("%s: %s", path, strerror(errno));
    fprintf(file,
            "redis = { url = \"%s\"; };\nstate_dir = \"%s\";\n"
            "log = { level = \"warn\"; };\n"
            "plugins = { dir = \"%s\"; config = { probe = { file = \"%s\"; }; %s }; };\n",
            stage->url, stage->folder, dir, probe_path(stage, probe), program ? program : "");
    if (workers)
        fprintf(file, "workers = %d;\n", workers);
    fprintf(file, "%s = %s;\n", workers ? "queues" : "pools",
            queues ? queues : "( { name = \"" STAGE_QUEUE "\"; } )");
    if (fclose(file) != 0)
        fatal("%s: %s", path, strerror(errno));
}

/* Without logs of a Redis without an append-only file, which is meant here. */
static void become_laterd(const struct stage *stage, pid_t parent)
{
    const char *program = getenv("LATERD");
    char config[128], log[128];
    int fd;

    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(127);
    snprintf(config, sizeof config, "%s/laterd.conf", stage->folder);
    snprintf(log, sizeof log, "%s/log", stage->folder);
    fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
    if (!program)
        program = "daemon/laterd";
    execlp(program, program, "-c", config, (char *)NULL);
    _exit(127);
}

void stage_start_only(struct stage *stage, int workers, const char *queues)
{
    pid_t parent = getpid();

    write_config(stage, workers, queues);
    stage->workers = workers;
    stage->laterd = fork();
    if (stage->laterd == 0)
        become_laterd(stage, parent);
    if (stage->laterd < 0)
        fatal("fork: %s", strerror(errno));
}

double stage_blocked(struct stage *stage)
{
    redisReply *reply = stage_ask(stage, "INFO clients");
    const char *at = strstr(reply->str, "blocked_clients:");
    double count = at ? strtod(at + strlen("blocked_clients:"), NULL) : 0;

    freeReplyObject(reply);
    return count;
}

/* A laterd that ended by itself has said why. */
static void look_at_laterd(struct stage *stage)
{
    char log[128], line[512] = "";
    FILE *file;

    if (waitpid(stage->laterd, NULL, WNOHANG) == 0)
        return;
    stage->laterd = 0;
    snprintf(log, sizeof log, "%s/log", stage->folder);
    file = fopen(log, "re");
    while (file && fgets(line, sizeof line, file))
        fputs(line, stderr);
    if (file)
        fclose(file);
    fatal("laterd has ended");
}

void stage_start(struct stage *stage, int workers, const char *queues)
{
    double until = now_monotonic() + PATIENCE;

    stage_start_only(stage, workers, queues);
    while (stage_blocked(stage) < workers) {
        look_at_laterd(stage);
        if (now_monotonic() > until)
            fatal("laterd: not all workers are idle after %.0f s", PATIENCE);
        sleep_seconds(0.01);
    }
}

void stage_stop(struct stage *stage)
{
    if (!stage->laterd)
        return;
    kill(stage->laterd, SIGTERM);
    for (int i = 0; i < 500 && waitpid(stage->laterd, NULL, WNOHANG) == 0; i++)
        sleep_seconds(0.01);
    kill(stage->laterd, SIGKILL);
    waitpid(stage->laterd, NULL, 0);
    stage->laterd = 0;
}

/* ---- the probe */

size_t stage_probed(struct stage *stage, double (*pairs)[2], size_t room)
{
    char path[128];
    size_t count;
    FILE *file;

    file = fopen(probe_path(stage, path), "re");
    if (!file)
        return 0;
    if (fseek(file, (long)(stage->probed * sizeof *pairs), SEEK_SET) < 0)
        fatal("%s: %s", path, strerror(errno));
    count = fread(pairs, sizeof *pairs, room, file);
    stage->probed += count;
    fclose(file);
    return count;
}

void stage_await_probed(struct stage *stage, size_t count, double (*pairs)[2])
{
    double until = now_monotonic() + 10;
    size_t got = 0;

    while (got < count) {
        got += stage_probed(stage, pairs + got, count - got);
        if (now_monotonic() > until)
            fatal("%zu of %zu jobs began", got, count);
        sleep_seconds(0.02);
    }
}
