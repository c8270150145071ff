/* live.c: a redis-server for a test program. */
#include "live.h"

#include "queue/conservation.h"
#include "tests/support/fake_redis.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define STANDSTILL 0.05 /* seconds between two turns, none of which takes so long by itself */

struct server live_server;
char live_url[100];
struct event_base *live_base;
struct config live_config;
struct queues *live_queues;
struct link *live_link;
int live_ups, live_downs;

static redisContext *side;
static void (*then_up)(void);
static bool hurries;
static double awake, awake_at; /* what live_awake() said, and when that was */

double live_slowness(void)
{
    const char *text = getenv("CK_TIMEOUT_MULTIPLIER");
    double slowness = text ? strtod(text, NULL) : 1, processes = 0;

    getloadavg(&processes, 1);
    return fmax(slowness, 1) * fmax(processes / (double)sysconf(_SC_NPROCESSORS_ONLN), 1);
}

/* ---- the server */

void live_start(void)
{
    ck_assert_int_eq(server_start_with_clock(&live_server, NULL), 0);
    snprintf(live_url, sizeof live_url, "unix:%s", live_server.socket);
}

void live_stop(void)
{
    server_stop(&live_server);
}

void live_begin(void)
{
    signal(SIGPIPE, SIG_IGN);
    side = server_connect(&live_server);
    ck_assert_ptr_nonnull(side);
    live_do("REPLICAOF NO ONE");
    live_do("CONFIG SET maxmemory 0");
    live_do("FLUSHALL");
    live_do("SCRIPT FLUSH");
    live_do("CONFIG RESETSTAT");
}

void live_end(void)
{
    if (side)
        redisFree(side);
    side = NULL;
}

static redisReply *ask(const char *format, va_list args)
{
    redisReply *reply = NULL;

    for (int i = 0; i < 2 && !reply; i++) { /* a CLIENT KILL may have hit this connection too */
        va_list copy;

        if (!side || side->err) {
            live_end();
            side = server_connect(&live_server);
            ck_assert_ptr_nonnull(side);
        }
        va_copy(copy, args);
        reply = redisvCommand(side, format, copy);
        va_end(copy);
    }
    ck_assert_msg(reply != NULL, "%s: %s", format, side->errstr);
    ck_assert_msg(reply->type != REDIS_REPLY_ERROR, "%s: %s", format, reply->str);
    return reply;
}

long long live_number(const char *format, ...)
{
    va_list args;
    redisReply *reply;
    long long number;

    va_start(args, format);
    reply = ask(format, args);
    va_end(args);
    number = reply->type == REDIS_REPLY_ARRAY ? (long long)reply->elements
             : reply->str                     ? strtoll(reply->str, NULL, 10)
                                              : reply->integer;
    freeReplyObject(reply);
    return number;
}

const char *live_string(const char *format, ...)
{
    static char texts[8][8192];
    static unsigned next;
    char *text = texts[next++ % 8];
    va_list args;
    redisReply *reply;

    va_start(args, format);
    reply = ask(format, args);
    va_end(args);
    snprintf(text, sizeof texts[0], "%s", reply->str ? reply->str : "");
    freeReplyObject(reply);
    return text;
}

void live_do(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    freeReplyObject(ask(format, args));
    va_end(args);
}

struct later_client *live_client(void)
{
    const struct later_client_options options = { .url = live_url, .timeout = 60 };
    struct later_error err;
    struct later_client *client = later_client_open_with(&options, &err);

    ck_assert_msg(client != NULL, "%s", err.text);
    return client;
}

void live_put(const char *queue, const char *id, double score)
{
    live_do("HSET later:{%s}:jobs %s {\"type\":\"t\"}", queue, id);
    live_do("ZADD later:{%s}:ready %.17g %s", queue, score, id);
    live_do("HINCRBY later:{%s}:stats pushed 1", queue);
}

double live_time(void)
{
    return strtod(live_string("EVAL %s 0", "local t = redis.call('TIME') "
                                           "return string.format('%d.%06d', t[1], t[2])"),
                  NULL);
}

double live_score(const char *queue, const char *set, const char *member)
{
    const char *text = live_string("ZSCORE later:{%s}:%s %s", queue, set, member);

    return *text ? strtod(text, NULL) : (double)NAN;
}

#define VALUE_IN "string.match('\\n' .. record, '\\n' .. ARGV[1] .. '=([^\\n]*)')"

const char *live_noted(const char *queue, const char *tag, const char *id)
{
    return live_string("EVAL %s 1 later:{%s}:records %s %s",
                       "local record = redis.call('HGET', KEYS[1], ARGV[2]) or ''"
                       "return " VALUE_IN " or ''",
                       queue, tag, id);
}

long long live_noting(const char *queue, const char *tag)
{
    return live_number("EVAL %s 1 later:{%s}:records %s",
                       "local n = 0 for _, record in ipairs(redis.call('HVALS', KEYS[1])) do "
                       "if " VALUE_IN " then n = n + 1 end end return n",
                       queue, tag);
}

long long live_calls(void)
{
    const char *line = strstr(live_string("INFO commandstats"), "cmdstat_evalsha:calls=");

    return line ? strtoll(strchr(line, '=') + 1, NULL, 10) : 0;
}

void live_hold(const char *queue, const char *id, const char *token, double lease)
{
    live_put(queue, id, 1);
    live_do("ZREM later:{%s}:ready %s", queue, id);
    live_do("ZADD later:{%s}:reserved %.6f %s", queue, live_time() + lease, token);
    live_do("ZADD later:{%s}:reserved:%s 1 %s", queue, token, id);
    live_do("HINCRBY later:{%s}:stats reserved 1", queue);
}

long long live_held(const char *queue)
{
    return live_number(
        "EVAL %s 0 later:{%s}:reserved",
        "local n = 0 for _, token in ipairs(redis.call('ZRANGE', ARGV[1], 0, -1)) do "
        "n = n + redis.call('ZCARD', ARGV[1] .. ':' .. token) end return n",
        queue);
}

static uint64_t live_count(const char *command, const char *queue, const char *key)
{
    return (uint64_t)live_number("%s later:{%s}:%s", command, queue, key);
}

void live_check(const char *queue)
{
    struct later_sizes sizes = {
        .ready = live_count("ZCARD", queue, "ready"),
        .delayed = live_count("ZCARD", queue, "delayed"),
        .reserved = (uint64_t)live_held(queue),
        .dead = live_count("ZCARD", queue, "dead"),
        .waiting = live_count("ZCARD", queue, "waiting"),
        .jobs = live_count("HLEN", queue, "jobs"),
    };
    char sum[400];

    for (int i = 0; i < LATER_CONSERVED; i++)
        sizes.counters[i] = (uint64_t)live_number("HGET later:{%s}:stats %s", queue,
                                                  later_counter_name((enum later_counter)i));
    ck_assert_int_eq(later_unadopted(&sizes), 0);
    ck_assert_msg(later_conserved(&sizes), "%s", later_conserved_text(&sizes, sum, sizeof sum));
}

/* ---- the loop */

static void on_up(void *arg)
{
    (void)arg;
    live_ups++;
    if (then_up)
        then_up();
}

static void on_down(void *arg)
{
    (void)arg;
    live_downs++;
}

void live_loop(void (*up)(void))
{
    live_loop_at(live_url, up);
}

void live_loop_at(const char *url, void (*up)(void))
{
    static char at[sizeof live_url];
    static char prefix[] = "later";
    static struct config_queue queues[2] = { { .name = "q" }, { .name = "r" } };
    static struct config_pool pool = { .name = "default", .queues = queues, .queue_count = 2 };
    const struct link_options options = { .what = "test", .up = on_up, .down = on_down };
    const struct queues_options serving = { .host = "the-host", .identity = "the-identity" };
    struct later_error err;

    live_config = (struct config){ .pools = &pool,
                                   .pool_count = 1,
                                   .lease = 30,
                                   .timeout = 300,
                                   .grace = 10,
                                   .crash_max = 3,
                                   .max_attempts = 25,
                                   .redis.url = at,
                                   .redis.prefix = prefix };
    snprintf(at, sizeof at, "%s", url);
    log_open(LOG_ERROR, false, "test");
    then_up = up;
    live_ups = live_downs = 0;
    live_base = event_base_new();
    ck_assert_ptr_nonnull(live_base);
    live_link = link_new(live_base, &live_config, &options, &err);
    ck_assert_msg(live_link != NULL, "%s", err.text);
    live_queues = queues_new(live_base, &live_config, live_link, &serving);
    ck_assert_ptr_nonnull(live_queues);
    LIVE_UNTIL(live_ups == 1);
}

void live_serve(struct queues *queues)
{
    for (uint32_t p = 0; p < live_config.pool_count; p++) {
        for (uint32_t q = 0; q < live_config.pools[p].queue_count; q++) {
            const struct config_queue *row = &live_config.pools[p].queues[q];
            struct queue *queue = queues_need(queues, row->name);

            ck_assert_ptr_nonnull(queue);
            queue->config = row;
        }
    }
}

void live_unlink(void)
{
    link_free(live_link);
    live_link = NULL;
}

void live_unloop(void)
{
    live_unlink();
    services_unmake(live_queues);
    queues_free(live_queues);
    live_queues = NULL;
    if (live_base)
        event_base_free(live_base);
    live_base = NULL;
    later_names_free(&live_config.served, NULL);
}

static void on_turn(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
}

void live_hurry(void)
{
    hurries = true;
}

void live_advance(double seconds)
{
    server_advance(&live_server, seconds);
    live_clock_advance(seconds);
    awake += seconds;
}

/* So much of what has passed since the last time as is no standstill. */
static void pass_awake(double most)
{
    double now = live_clock_true();

    awake += fmin(now - awake_at, most);
    awake_at = now;
}

double live_awake(void)
{
    pass_awake(STANDSTILL);
    return awake;
}

void live_turn(void)
{
    bool waits = !live_link || !link_is_up(live_link) || later_redis_pending(link_redis(live_link));
    struct timeval wait = { 0, 10000 };

    if (hurries && !waits) {
        live_advance(0.02);
        wait.tv_usec = 1000;
    }
    event_base_once(live_base, -1, EV_TIMEOUT, on_turn, NULL, &wait);
    event_base_loop(live_base, EVLOOP_ONCE);
    pass_awake(hurries && waits ? 0 : STANDSTILL);
}

void live_case(const char *name, void (*set_up)(void), void (*tear_down)(void))
{
    tcase_add_unchecked_fixture(unit_case(name, set_up, tear_down), live_start, live_stop);
}

void live_cut(struct fake_redis *fake, void *arg)
{
    unsigned seed = *(unsigned *)arg;

    while (fake_accept(fake)) {
        size_t up = SIZE_MAX, down = SIZE_MAX;

        if (rand_r(&seed) % 2)
            up = 1 + (size_t)rand_r(&seed) % 200000;
        else
            down = 1 + (size_t)rand_r(&seed) % 40000;
        fake_relay(fake, live_server.socket, up, down);
    }
}

void live_lose(struct fake_redis *fake, void *arg)
{
    int *lose = arg;

    while (fake_accept(fake)) {
        while (fake_read(fake)) {
            bool it = strcmp(fake_word(fake, 0), "EVALSHA") == 0 && *lose > 0;

            if (!fake_forward(fake, live_server.socket, it))
                break;
            if (it) {
                --*lose;
                break;
            }
        }
        fake_cut(fake);
    }
}

static int log_fd, stderr_before;

void live_log_begin(enum log_level level)
{
    log_fd = memfd_create("log", MFD_CLOEXEC);
    stderr_before = dup(STDERR_FILENO);
    dup2(log_fd, STDERR_FILENO);
    log_open(level, false, "test");
}

const char *live_log(void)
{
    static char text[65536];
    ssize_t got = pread(log_fd, text, sizeof text - 1, 0);

    text[got > 0 ? got : 0] = '\0';
    return text;
}

int live_logged(const char *words)
{
    int count = 0;

    for (const char *at = live_log(); (at = strstr(at, words)); at++)
        count++;
    return count;
}

void live_log_end(void)
{
    dup2(stderr_before, STDERR_FILENO);
    close(stderr_before);
    close(log_fd);
}

static uint32_t no_shards(void *arg, const struct config_queue *queue)
{
    (void)arg;
    (void)queue;
    return 0;
}

void live_widen(struct config *config)
{
    struct later_error err;

    ck_assert_msg(config_widen(config, no_shards, NULL, &err) == 0, "%s", err.text);
}
