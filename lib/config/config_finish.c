/* config_finish.c: what follows from several options when all files are read. */
#include "config/config_finish.h"

#include "config/config_cron.h"
#include "config/config_lists.h"
#include "config/config_text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define WORKERS_MAX 1024
#define SOCKET_MAX  (sizeof((struct sockaddr_un *)0)->sun_path - 1)

static uint32_t cores(void)
{
    cpu_set_t set;
    long count;

    if (sched_getaffinity(0, sizeof set, &set) == 0)
        count = CPU_COUNT(&set);
    else
        count = sysconf(_SC_NPROCESSORS_ONLN);
    if (count < 1)
        return 1;
    return count > WORKERS_MAX ? WORKERS_MAX : (uint32_t)count;
}

/* Without `pools`: one, of the options workers and queues; without queues: the queue "default". */
static int make_pool(struct config_draft *draft)
{
    struct config *config = &draft->config;

    if (config->pool_count > 0)
        return 0;
    if (!draft->queues) {
        draft->queues = calloc(1, sizeof *draft->queues);
        if (!draft->queues)
            return -1;
        strcpy(draft->queues->name, "default");
        draft->queue_count = 1;
    }
    config->pools = calloc(1, sizeof *config->pools);
    if (!config->pools)
        return -1;
    strcpy(config->pools->name, "default");
    config->pools->workers = draft->workers;
    config->pools->queues = draft->queues;
    config->pools->queue_count = draft->queue_count;
    config->pool_count = 1;
    draft->queues = NULL;
    return 0;
}

/* Queues of one name ask for the same. */
static uint32_t shards_of(void *arg, const struct config_queue *queue)
{
    (void)arg;
    return queue->shards;
}

/* What a row of `types` does not set is the global value. */
static void inherit(const struct config *config, struct config_type *type)
{
    if (type->timeout < 0)
        type->timeout = config->timeout;
    if (type->max_attempts == 0)
        type->max_attempts = config->max_attempts;
    if (type->backoff.base < 0)
        type->backoff.base = config->backoff.base;
    if (type->backoff.max < 0)
        type->backoff.max = config->backoff.max;
    if (type->backoff.jitter < 0)
        type->backoff.jitter = config->backoff.jitter;
    if (type->ceiling.timeout < 0)
        type->ceiling.timeout = config->ceiling.timeout;
    if (type->ceiling.attempts == 0)
        type->ceiling.attempts = config->ceiling.attempts;
    if (type->ceiling.wait < 0)
        type->ceiling.wait = config->ceiling.wait;
}

/* Two limits of the same thing, say 3 a second and 100 an hour, are counted apart. */
static void number_limits(struct config *config)
{
    for (uint32_t i = 0; i < config->limit_count; i++) {
        struct config_limit *limit = &config->limits[i];

        limit->nth = 0;
        for (uint32_t k = 0; k < i; k++) {
            const struct config_limit *other = &config->limits[k];

            limit->nth +=
                strcmp(other->type, limit->type) == 0 && strcmp(other->queue, limit->queue) == 0 &&
                strcmp(other->member, limit->member) == 0 && other->by_group == limit->by_group;
        }
    }
}

/* Part by part: numbers by value, words by their bytes. So the members of a group stand together.
 */
static int compare_keys(const char *a, const char *b)
{
    for (;;) {
        size_t m = strcspn(a, "."), n = strcspn(b, ".");
        bool numbers = isdigit((unsigned char)*a) && isdigit((unsigned char)*b);
        int order = numbers && m != n ? (m < n ? -1 : 1) : strncmp(a, b, m < n ? m : n);

        if (order == 0 && m != n)
            order = m < n ? -1 : 1;
        if (order != 0 || !a[m] || !b[n])
            return order != 0 ? order : (a[m] != 0) - (b[n] != 0);
        a += m + 1;
        b += n + 1;
    }
}

static int compare_leaves(const void *a, const void *b)
{
    const struct config_leaf *x = a, *y = b;
    int order = strcmp(x->plugin, y->plugin);

    return order != 0 ? order : compare_keys(x->key, y->key);
}

/* Names without * first, then longer before shorter. */
static int by_precision(const void *a, const void *b)
{
    const struct config_type *x = a, *y = b;
    size_t m = strlen(x->name), n = strlen(y->name);

    if (config_is_pattern(x->name) != config_is_pattern(y->name))
        return config_is_pattern(x->name) ? 1 : -1;
    if (m != n)
        return m > n ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Returns where an option was set. */
static const struct config_location *location_of(const struct config_draft *draft, const char *path)
{
    return &draft->locations[config_row_find(path) - config_table];
}

static int check_pools(const struct config_draft *draft, struct later_error *err)
{
    static const char *const plain[] = { "workers", "queues" };

    for (size_t i = 0; i < 2 && location_of(draft, "pools")->file; i++) {
        const struct config_location *other = location_of(draft, plain[i]);

        if (other->file)
            return config_text_fault(location_of(draft, "pools"), "pools", err,
                                     "given beside %s (%s:%u); one or the other", plain[i],
                                     other->file, other->line);
    }
    return 0;
}

static int check_backoff(const struct later_backoff *backoff, const struct config_location *where,
                         const char *path, struct later_error *err)
{
    char base[32], max[32];

    if (backoff->base <= backoff->max)
        return 0;
    return config_text_fault(where, path, err,
                             "base (%s) is greater than max (%s); lower base or raise max",
                             config_text_real(backoff->base, base, sizeof base),
                             config_text_real(backoff->max, max, sizeof max));
}

static int check_backoffs(const struct config_draft *draft, struct later_error *err)
{
    const char *path = location_of(draft, "retry.base")->file ? "retry.base" : "retry.max";

    if (check_backoff(&draft->config.backoff, location_of(draft, path), path, err) < 0)
        return -1;
    for (uint32_t i = 0; i < draft->config.type_count; i++) {
        if (check_backoff(&draft->config.types[i].backoff, &draft->origin[i].location, "types.base",
                          err) < 0)
            return -1;
    }
    return 0;
}

static int check_password_file(const struct config_draft *draft, struct later_error *err)
{
    const char *path = "redis.password_file", *file = draft->config.redis.password_file;
    struct stat st;
    int fd, why;

    if (!file)
        return 0;
    fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    why = fd < 0 || fstat(fd, &st) < 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    if (why)
        return config_text_fault(location_of(draft, path), path, err, "%.200s: %s", file,
                                 strerror(why));
    if (!S_ISREG(st.st_mode))
        return config_text_fault(location_of(draft, path), path, err, "%.200s: not a regular file",
                                 file);
    if (st.st_mode & S_IRWXO)
        return config_text_fault(location_of(draft, path), path, err,
                                 "%.200s: others may read or change it (mode %04o); chmod o-rwx it",
                                 file, (unsigned)st.st_mode & 07777U);
    return 0;
}

/* The built-in directory may be missing; then there are no plugins yet. */
static int check_plugin_dir(const struct config_draft *draft, struct later_error *err)
{
    const char *path = "plugins.dir", *dir = draft->config.plugins.dir;
    struct stat st;

    if (strcmp(dir, config_row_find(path)->text) == 0)
        return 0;
    if (stat(dir, &st) < 0)
        return config_text_fault(location_of(draft, path), path, err, "%.200s: %s", dir,
                                 strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return config_text_fault(location_of(draft, path), path, err, "%.200s: not a directory",
                                 dir);
    return 0;
}

static int check_state_dir(const struct config_draft *draft, struct later_error *err)
{
    const size_t max = SOCKET_MAX - strlen("/redis.sock");

    if (strcmp(draft->config.redis.url, "embedded") != 0 || strlen(draft->config.state_dir) <= max)
        return 0;
    return config_text_fault(location_of(draft, "state_dir"), "state_dir", err,
                             "too long for the path of the embedded server's socket; at most %zu "
                             "bytes",
                             max);
}

/* Checks what concerns several options or the file system: workers and queues beside pools, base
 * over max, the password file, the plugin directory, the length of the embedded server's socket
 * path. Returns 0, or -1 with *err. */
static int config_finish_check(const struct config_draft *draft, struct later_error *err)
{
    if (check_pools(draft, err) < 0 || check_backoffs(draft, err) < 0 ||
        check_password_file(draft, err) < 0 || check_plugin_dir(draft, err) < 0)
        return -1;
    return check_state_dir(draft, err);
}

int config_finish(struct config_draft *draft, struct later_error *err)
{
    struct config *config = &draft->config;

    for (uint32_t i = 0; i < config->type_count; i++)
        inherit(config, &config->types[i]);
    number_limits(config);
    if (config_finish_check(draft, err) < 0)
        return -1;
    if (make_pool(draft) < 0)
        return config_no_memory(err);
    for (uint32_t i = 0; i < config->pool_count; i++) {
        struct config_pool *pool = &config->pools[i];

        pool->entries = pool->queue_count;
        if (config_split_patterns(pool) < 0)
            return config_no_memory(err);
        if (pool->workers == 0)
            pool->workers = cores();
    }
    if (config_widen(config, shards_of, NULL, err) < 0 || config_cron_finish(config, err) < 0)
        return -1;
    if (config->type_count > 1)
        qsort(config->types, config->type_count, sizeof *config->types, by_precision);
    if (config->plugins.config_count > 1)
        qsort(config->plugins.config, config->plugins.config_count, sizeof *config->plugins.config,
              compare_leaves);
    return 0;
}
