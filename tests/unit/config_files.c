/* config_files.c: configuration files for a test. */
#include "config_files.h"

#include "config/config_table.h"
#include "tests/support/folder.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char config_dir[] = "/tmp/laterd-XXXXXX";
struct later_error config_err;
static struct config *loaded;

void config_files_begin(void)
{
    umask(022);
    strcpy(config_dir, "/tmp/laterd-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(config_dir));
    memset(&config_err, 0, sizeof config_err);
}

void config_files_end(void)
{
    config_free(loaded);
    loaded = NULL;
    folder_remove(config_dir);
}

const char *config_path(const char *name)
{
    static char paths[4][512];
    static unsigned next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof *paths, "%s/%s", config_dir, name);
    return path;
}

struct wider {
    const char *queue;
    uint32_t shards;
};

static uint32_t wanted(void *arg, const struct config_queue *queue)
{
    const struct wider *wider = arg;

    return strcmp(queue->name, wider->queue) == 0 ? wider->shards : 0;
}

int config_widen_one(struct config *config, const char *queue, uint32_t shards)
{
    struct wider wider = { queue, shards };

    return config_widen(config, wanted, &wider, &config_err);
}

void config_put(const char *name, const char *text)
{
    char path[512];
    FILE *file;

    snprintf(path, sizeof path, "%s", config_path(name));
    for (char *slash = path + strlen(config_dir) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(path, 0755);
        *slash = '/';
    }
    file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    ck_assert_int_eq(fclose(file), 0);
}

const struct config *config_get(const char *name)
{
    config_free(loaded);
    loaded = config_load(config_path(name), &config_err);
    ck_assert_msg(loaded != NULL, "%s", config_err.text);
    return loaded;
}

const struct config *config_of(const char *text)
{
    config_put("laterd.conf", text);
    return config_get("laterd.conf");
}

void config_refused(const char *name, const char *text)
{
    const char *hole = strstr(text, "%s");
    char expected[700];

    snprintf(expected, sizeof expected, "%.*s%s%s", (int)(hole ? hole - text : 0), text,
             hole ? config_dir : "", hole ? hole + 2 : text);
    ck_assert_ptr_null(config_load(config_path(name), &config_err));
    ck_assert_str_eq(config_err.text, expected);
    ck_assert_int_eq(config_err.code, LATER_E_CONFIG);
}

/* Are all options of a list's entry the same? */
static bool same_rows(enum config_scope scope, const void *a, const void *b)
{
    for (size_t i = 0; i < config_table_count; i++) {
        if (config_table[i].scope == scope && !config_row_equal(&config_table[i], a, b))
            return false;
    }
    return true;
}

static bool same_pools(const struct config *a, const struct config *b)
{
    if (a->pool_count != b->pool_count)
        return false;
    for (uint32_t i = 0; i < a->pool_count; i++) {
        const struct config_pool *x = &a->pools[i], *y = &b->pools[i];

        if (!same_rows(CONFIG_IN_POOL, x, y) || x->queue_count != y->queue_count)
            return false;
        for (uint32_t k = 0; k < x->queue_count; k++) {
            if (!same_rows(CONFIG_IN_QUEUE, &x->queues[k], &y->queues[k]))
                return false;
        }
    }
    return true;
}

static bool same_types(const struct config *a, const struct config *b)
{
    if (a->type_count != b->type_count)
        return false;
    for (uint32_t i = 0; i < a->type_count; i++) {
        const struct config_type *x = &a->types[i], *y = &b->types[i];

        if (!same_rows(CONFIG_IN_TYPE, x, y) ||
            memcmp(&x->backoff, &y->backoff, sizeof x->backoff) != 0)
            return false;
    }
    return true;
}

static bool same_limits(const struct config *a, const struct config *b)
{
    if (a->limit_count != b->limit_count)
        return false;
    for (uint32_t i = 0; i < a->limit_count; i++) {
        if (!same_rows(CONFIG_IN_LIMIT, &a->limits[i], &b->limits[i]) ||
            a->limits[i].nth != b->limits[i].nth)
            return false;
    }
    return true;
}

static bool same_groups(const struct config *a, const struct config *b)
{
    if (a->group_count != b->group_count)
        return false;
    for (uint32_t i = 0; i < a->group_count; i++) {
        if (!same_rows(CONFIG_IN_GROUP, &a->groups[i], &b->groups[i]))
            return false;
    }
    return true;
}

static bool same_schedules(const struct config *a, const struct config *b)
{
    if (a->cron_count != b->cron_count)
        return false;
    for (uint32_t i = 0; i < a->cron_count; i++) {
        if (!same_rows(CONFIG_IN_CRON, &a->crons[i], &b->crons[i]))
            return false;
    }
    return true;
}

static bool same_plugins(const struct config *a, const struct config *b)
{
    char **x = a->plugins.load, **y = b->plugins.load;

    if (!x != !y || a->plugins.config_count != b->plugins.config_count)
        return false;
    for (; x && *x && *y && strcmp(*x, *y) == 0; x++)
        y++;
    if (x && (*x || *y))
        return false;
    for (uint32_t i = 0; i < a->plugins.config_count; i++) {
        const struct config_leaf *l = &a->plugins.config[i], *m = &b->plugins.config[i];

        if (strcmp(l->plugin, m->plugin) != 0 || strcmp(l->key, m->key) != 0 ||
            strcmp(l->value, m->value) != 0)
            return false;
    }
    return true;
}

const char *config_difference(const struct config *a, const struct config *b)
{
    for (size_t i = 0; i < config_table_count; i++) {
        const struct config_row *row = &config_table[i];

        if (row->scope == CONFIG_IN_TOP && row->offset < sizeof *a && !config_row_equal(row, a, b))
            return row->path;
    }
    if (!same_pools(a, b))
        return "pools";
    if (!same_types(a, b))
        return "types";
    if (!same_limits(a, b))
        return "limits";
    if (!same_groups(a, b))
        return "groups";
    if (!same_schedules(a, b))
        return "cron";
    return same_plugins(a, b) ? NULL : "plugins";
}

char *config_source(const char *name)
{
    const char *top = getenv("top_srcdir");
    char path[1024], *text = NULL;
    size_t size = 0;
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", top ? top : ".", name);
    file = fopen(path, "r");
    ck_assert_msg(file != NULL, "%s: not there; run in the tree's root or set top_srcdir", path);
    ck_assert_int_gt(getdelim(&text, &size, '\0', file), 0);
    fclose(file);
    return text;
}
