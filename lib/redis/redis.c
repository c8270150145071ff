/* redis.c: what a server and a Cluster have in common, and the calls to what differs. */
#include "redis/redis_inner.h"

#include "base/clock.h"
#include "redis/password.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- making and unmaking --- */

static void forget_password(struct later_redis *redis)
{
    if (redis->password)
        explicit_bzero(redis->password, strlen(redis->password));
    free(redis->password);
    redis->password = NULL;
}

int later_redis_init(struct later_redis *redis, const struct later_redis_table *table,
                     const struct later_redis_options *options)
{
    const char *password = options->password ? options->password : options->address.password;

    if (!*password)
        password = NULL;
    *redis = (struct later_redis){ .table = table, .options = *options, .fd = -1 };
    if (redis->options.connect_timeout <= 0)
        redis->options.connect_timeout = 2;
    if (options->name)
        snprintf(redis->name, sizeof redis->name, "%s", options->name);
    if (options->protocol)
        snprintf(redis->protocol, sizeof redis->protocol, "%s", options->protocol);
    explicit_bzero(redis->options.address.password, sizeof redis->options.address.password);
    redis->password = password ? strdup(password) : NULL;
    redis->password_file = options->password_file ? strdup(options->password_file) : NULL;
    if (!(password && !redis->password) && !(options->password_file && !redis->password_file))
        return 0;
    forget_password(redis);
    free(redis->password_file);
    return -1;
}

struct later_redis *later_redis_twin(const struct later_redis *redis)
{
    return redis->table->new (
        &(struct later_redis_options){ .address = redis->options.address,
                                       .password = redis->password,
                                       .password_file = redis->password_file,
                                       .name = redis->name,
                                       .connect_timeout = redis->options.connect_timeout });
}

void later_redis_free(struct later_redis *redis)
{
    if (!redis)
        return;
    redis->options.down = NULL;
    later_redis_disconnect(redis, "closed");
    if (redis->table->end)
        redis->table->end(redis);
    forget_password(redis);
    free(redis->password_file);
    free(redis);
}

const char *later_redis_password_file(const struct later_redis *redis)
{
    return redis->password_file;
}

void later_redis_read_password(struct later_redis *redis)
{
    char password[LATER_PASSWORD_MAX], *copy;
    struct later_error ignored;

    if (!redis->password_file ||
        later_password_read(redis->password_file, password, LATER_E_CONFIG, &ignored) < 0)
        return;
    copy = strdup(password);
    explicit_bzero(password, sizeof password);
    if (!copy)
        return;
    forget_password(redis);
    redis->password = copy;
}

/* --- what is known of it --- */

const char *later_redis_peer(const struct later_redis *redis)
{
    return redis->peer;
}

bool later_redis_up(const struct later_redis *redis)
{
    return redis->state == UP;
}

bool later_redis_down(const struct later_redis *redis)
{
    return redis->state == DOWN;
}

bool later_redis_other_protocol(const struct later_redis *redis)
{
    return redis->other_protocol;
}

int64_t later_redis_id(const struct later_redis *redis)
{
    return redis->id;
}

double later_redis_since(const struct later_redis *redis)
{
    return redis->since;
}

size_t later_redis_pending(const struct later_redis *redis)
{
    return redis->pending;
}

int later_redis_fd(const struct later_redis *redis)
{
    return redis->fd;
}

bool later_redis_is_cluster(const struct later_redis *redis)
{
    return redis->table->masters != NULL;
}

/* --- what each does in its own way --- */

int later_redis_connect(struct later_redis *redis, struct later_error *err)
{
    return redis->table->connect(redis, err);
}

void later_redis_disconnect(struct later_redis *redis, const char *why)
{
    redis->table->disconnect(redis, why);
}

int later_redis_send(struct later_redis *redis, struct later_command *cmd, double timeout,
                     later_answer_fn *fn, void *arg)
{
    if (redis->state == UP)
        return redis->table->send(redis, cmd, timeout, fn, arg);
    later_command_free(cmd);
    return -1;
}

void later_redis_flush(struct later_redis *redis)
{
    redis->table->flush(redis);
}

bool later_redis_wants_write(const struct later_redis *redis)
{
    return redis->table->wants_write && redis->table->wants_write(redis);
}

double later_redis_deadline(struct later_redis *redis)
{
    return redis->state == DOWN ? INFINITY : redis->table->deadline(redis);
}

void later_redis_handle(struct later_redis *redis)
{
    redis->table->handle(redis);
}

void later_redis_tick(struct later_redis *redis)
{
    redis->table->tick(redis);
}

/* --- of a Cluster --- */

size_t later_redis_masters(const struct later_redis *redis)
{
    return redis->table->masters ? redis->table->masters(redis) : 0;
}

int later_redis_send_to(struct later_redis *redis, size_t which, struct later_command *cmd,
                        double timeout, later_answer_fn *fn, void *arg)
{
    if (redis->state == UP && which < later_redis_masters(redis))
        return redis->table->send_to(redis, which, cmd, timeout, fn, arg);
    later_command_free(cmd);
    return -1;
}

bool later_redis_has(const struct later_redis *redis, size_t which, int slot)
{
    return which < later_redis_masters(redis) && redis->table->has(redis, which, slot);
}

void later_redis_master(const struct later_redis *redis, size_t which, char name[LATER_NODE_SIZE])
{
    name[0] = '\0';
    if (which < later_redis_masters(redis))
        redis->table->master(redis, which, name);
}

void later_redis_connections(const struct later_redis *redis, later_node_fn *fn, void *arg)
{
    if (redis->table->connections)
        redis->table->connections(redis, fn, arg);
}

/* --- for owners without a loop --- */

void later_redis_wait(struct later_redis *redis, double until)
{
    struct pollfd poller = { .fd = later_redis_fd(redis), .events = POLLIN };
    double deadline, wait;

    if (later_redis_down(redis))
        return;
    later_redis_flush(redis);
    if (later_redis_wants_write(redis))
        poller.events |= POLLOUT;
    deadline = later_redis_deadline(redis);
    wait = (deadline < until ? deadline : until) - later_clock();
    wait = wait < 0 ? 0 : wait > 3600 ? 3600 : wait;
    if (wait < LATER_READ_SECONDS || !redis->table->read || !redis->table->read(redis)) {
        if (poll(&poller, 1, (int)ceil(wait * 1000)) > 0)
            later_redis_handle(redis);
    }
    later_redis_tick(redis);
}
