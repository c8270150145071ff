/* where.c: finds out which Redis to use. */
#include "where.h"

#include "job/document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CLIENT_FILE LATER_CONF_DIR "/client.conf"

static int where_copy(char *to, size_t room, const char *text, const char *what,
                      struct later_error *err)
{
    if (strlen(text) >= room)
        return later_fail(err, LATER_E_USAGE, "%s: longer than %zu bytes", what, room - 1);
    strcpy(to, text);
    return 0;
}

/* Returns the file to read, or NULL. */
static const char *file_of(const struct where_given *given)
{
    if (given->config)
        return given->config;
    if (access(CLIENT_FILE, R_OK) == 0)
        return CLIENT_FILE;
    if (given->daemon_config)
        return given->daemon_config;
    return access(CONFIG_FILE, R_OK) == 0 ? CONFIG_FILE : NULL;
}

static int take_config(struct where *where, const char *file, struct later_error *err)
{
    struct config *config = config_load_where(file, strcmp(file, CLIENT_FILE) == 0, err);
    const char *url;
    int ok;

    if (!config)
        return -1;
    url = config->redis.url;
    if (strcmp(url, "embedded") == 0) {
        int len = snprintf(where->url, sizeof where->url, "unix:%s/redis.sock", config->state_dir);

        ok = len < (int)sizeof where->url
                 ? 0
                 : later_fail(err, LATER_E_CONFIG, "%s: state_dir is too long", file);
    } else {
        ok = where_copy(where->url, sizeof where->url, url, "redis.url", err);
    }
    if (ok == 0 && config->redis.password_file)
        ok = where_copy(where->password_file, sizeof where->password_file,
                        config->redis.password_file, "redis.password_file", err);
    if (ok == 0)
        ok = where_copy(where->prefix, sizeof where->prefix, config->redis.prefix, "redis.prefix",
                        err);
    where->document_max = (size_t)config->document_max; /* at most 64 MiB */
    config_free(config);
    return ok;
}

static const char *environment(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

/* from: where it is written. In a file, the configuration's reader says so. */
static int where_take_url(struct where *where, const char *url, const char *from,
                          struct later_error *err)
{
    struct later_address address;
    struct later_error why;

    if (where_copy(where->url, sizeof where->url, url, from, err) < 0)
        return -1;
    if (later_address_parse(&address, url, &why) < 0)
        return later_fail(err, why.code, "%s: %s", from, why.text);
    return 0;
}

int where_find(struct where *where, const struct where_given *given, struct later_error *err)
{
    const char *url = given->redis, *file = given->config;
    const char *password_file = environment("LATER_REDIS_PASSWORD_FILE");

    *where = (struct where){ .url = "unix:" LATER_STATE_DIR "/redis.sock",
                             .prefix = "later",
                             .document_max = LATER_DOCUMENT_MAX };
    if (!url && !file)
        url = environment("LATER_REDIS_URL");
    if (!url && !file)
        file = file_of(given);
    if (file && take_config(where, file, err) < 0)
        return -1;
    if (url && where_take_url(where, url, given->redis ? "--redis" : "$LATER_REDIS_URL", err) < 0)
        return -1;
    later_address_shown(where->url, where->shown);
    if (password_file && where_copy(where->password_file, sizeof where->password_file,
                                    password_file, "$LATER_REDIS_PASSWORD_FILE", err) < 0)
        return -1;
    if (given->prefix)
        return where_copy(where->prefix, sizeof where->prefix, given->prefix, "--prefix", err);
    return 0;
}

/* Of the daemon on this host; NULL: it has none, or none that we may read. */
static const char *daemon_file(const struct where_given *given)
{
    const char *file = given->config ? given->config : given->daemon_config;

    return file || access(CONFIG_FILE, R_OK) < 0 ? file : CONFIG_FILE;
}

struct config *where_config(const struct where_given *given, struct later_error *err)
{
    const char *file = daemon_file(given);

    return file ? config_load(file, err) : config_defaults(err);
}

struct config *where_state(const struct where_given *given, struct later_error *err)
{
    const char *file = daemon_file(given);

    return config_load_where(file, !file, err);
}
