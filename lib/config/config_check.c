/* config_check.c: what is wrong with a value, beyond its type and range. */
#include "config/config_check.h"

#include "redis/address.h"
#include "config/config_text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define SOCKET_MAX (sizeof((struct sockaddr_un *)0)->sun_path - 1)

#define DIGITS  "0123456789"
#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/* Is it 1 to max characters from set? */
static bool made_of(const char *text, size_t len, size_t max, const char *set)
{
    if (len == 0 || len > max)
        return false;
    for (size_t i = 0; i < len; i++) {
        if (!text[i] || !strchr(set, text[i]))
            return false;
    }
    return true;
}

static bool config_check_is_address(const char *url)
{
    struct later_address address;
    struct later_error ignored;

    return later_address_parse(&address, url, &ignored) == 0;
}

/* Forms of a URL whose hosts may have a user and a port; `signs` are allowed there. */
static const struct scheme {
    const char *begins, *signs;
    size_t max;
    const char *why; /* it is not right */
} schemes[] = {
    { "redis://", DIGITS LETTERS "._-@:/[]%", 512,
      "not right; redis://[user@]host[:port][/db], port 1 to 65535, db 0 to 65535" },
    { "sentinel://", DIGITS LETTERS "._-@:/[]%,", 480,
      "not right; sentinel://[user@]host[:port],host[:port]/NAME[/db], at most 8 hosts" },
    { "cluster://", DIGITS LETTERS "._-@:/[]%,", 480,
      "not right; cluster://[user@]host[:port],host[:port], at most 8 hosts" },
};

/* A password is looked for first: it must not get into a log, so no other fault may hide it. */
static const char *check_hosts(const struct scheme *scheme, const char *url)
{
    const char *rest = url + strlen(scheme->begins), *at = strrchr(rest, '@');

    if (at && memchr(rest, ':', (size_t)(at - rest)))
        return "a password does not belong here; write it to a file and name the file in "
               "redis.password_file";
    return made_of(rest, strlen(rest), scheme->max, scheme->signs) && config_check_is_address(url)
               ? NULL
               : scheme->why;
}

const char *config_check_url(const char *url)
{
    if (strcmp(url, "embedded") == 0)
        return NULL;
    if (strncmp(url, "rediss://", strlen("rediss://")) == 0)
        return "laterd does not speak TLS (rediss://); run stunnel on this host and use its "
               "address: doc/operations.md, TLS";
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        if (strncmp(url, schemes[i].begins, strlen(schemes[i].begins)) == 0)
            return check_hosts(&schemes[i], url);
    }
    if (strncmp(url, "unix:", strlen("unix:")) == 0)
        return config_check_is_address(url)
                   ? NULL
                   : "not right; unix:/path[?db=N] with an absolute path of at most "
                     "107 bytes";
    return "not an address of Redis; \"embedded\", \"unix:/path\", "
           "\"redis://[user@]host[:port][/db]\", \"sentinel://host,host/NAME\" or "
           "\"cluster://host,host\"";
}

const char *config_check_prefix(const char *prefix)
{
    return later_key_prefix_valid(prefix) ? NULL : "not a prefix; 1 to 32 of A-Z a-z 0-9 _ . : -";
}

const char *config_check_queue(const char *name)
{
    return later_key_queue_valid(name) ? NULL : "not a name; 1 to 64 of A-Z a-z 0-9 _ . -";
}

const char *config_check_served(const char *name)
{
    char start[LATER_QUEUE_MAX + 1];
    size_t len = strlen(name);

    if (len == 0 || name[len - 1] != '*')
        return config_check_queue(name);
    if (len == 1)
        return NULL;
    snprintf(start, sizeof start, "%.*s", (int)(len - 1), name);
    return later_key_queue_valid(start)
               ? NULL
               : "not a pattern; up to 63 of A-Z a-z 0-9 _ . - with * at the end";
}

const char *config_check_absolute(const char *path)
{
    if (*path != '/')
        return "not an absolute path; it must begin with /";
    return strlen(path) >= PATH_MAX ? "the path is too long; at most 4095 bytes" : NULL;
}

/* The path goes into the embedded server's configuration and into a URL. */
const char *config_check_state_dir(const char *path)
{
    for (const char *c = path; *c; c++) {
        if ((unsigned char)*c < ' ' || *c == 127 || strchr("\"\\?", *c))
            return "has a quote, backslash, question mark or control character; choose another "
                   "directory";
    }
    return config_check_absolute(path);
}

const char *config_check_pattern(const char *pattern)
{
    size_t len = strlen(pattern);

    if (len > 0 && pattern[len - 1] == '*')
        len--;
    return made_of(pattern, len, 128, DIGITS LETTERS "_.:-")
               ? NULL
               : "not a type; 1 to 128 of A-Z a-z 0-9 _ . : - with or without * at the end";
}

const char *config_check_member(const char *name)
{
    return made_of(name, strlen(name), 32, DIGITS LETTERS "_.:-")
               ? NULL
               : "not a member's name; 1 to 32 of A-Z a-z 0-9 _ . : -";
}

const char *config_check_plugin(const char *name)
{
    return made_of(name, strlen(name), CONFIG_PLUGIN_NAME_MAX,
                   "abcdefghijklmnopqrstuvwxyz" DIGITS "_-")
               ? NULL
               : "not a plugin's name; 1 to 64 of a-z 0-9 _ -";
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

int config_check_draft(const struct config_draft *draft, struct later_error *err)
{
    if (check_pools(draft, err) < 0 || check_backoffs(draft, err) < 0 ||
        check_password_file(draft, err) < 0 || check_plugin_dir(draft, err) < 0)
        return -1;
    return check_state_dir(draft, err);
}
