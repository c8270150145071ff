/* config_check.c: what is wrong with a value, beyond its type and range. */
#include "config/config_check.h"

#include "job/document.h"
#include "redis/address.h"
#include "redis/key.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

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

static bool is_absolute(const char *path)
{
    return !*path || *path == '/';
}

/* laterd's folder is not the one in which the file was written. */
static bool files_are_absolute(const char *url)
{
    struct later_address address;
    struct later_error ignored;

    return later_address_parse(&address, url, &ignored) == 0 && is_absolute(address.tls.ca) &&
           is_absolute(address.tls.cert) && is_absolute(address.tls.key);
}

#define QUERY "?&=%~+" /* signs of what comes after ?, for TLS */

/* Forms of a URL whose hosts may have a user and a port; `signs` are allowed there. */
static const struct scheme {
    const char *begins, *signs;
    size_t max;
    const char *why; /* it is not right */
} schemes[] = {
    { "rediss://", DIGITS LETTERS "._-@:/[]!$'()*,;" QUERY, LATER_URL_SIZE - 1,
      "not right; "
      "rediss://[user:password@]host[:port][/db][?ca=FILE&cert=FILE&key=FILE&name=HOST], "
      "with %XX for signs of the URL itself in user, password and files" },
    { "redis://", DIGITS LETTERS "._-@:/[]%", 512,
      "not right; redis://[user@]host[:port][/db], port 1 to 65535, db 0 to 65535" },
    { "sentinel://", DIGITS LETTERS "._-@:/[]%," QUERY, LATER_URL_SIZE - 1,
      "not right; sentinel://[user@]host[:port],host[:port]/NAME[/db][?tls=yes&ca=FILE…], at most "
      "8 hosts" },
    { "cluster://", DIGITS LETTERS "._-@:/[]%," QUERY, LATER_URL_SIZE - 1,
      "not right; cluster://[user@]host[:port],host[:port][?tls=yes&ca=FILE…], at most 8 hosts" },
};

/* A password is looked for first: it must not get into a log, so no other fault may hide it. An
 * address has none; what comes after ? in one may have an @. */
static const char *check_hosts(const struct scheme *scheme, const char *url)
{
    const char *rest = url + strlen(scheme->begins), *at = strrchr(rest, '@');

    if (!later_address_takes_password(url) && at && memchr(rest, ':', (size_t)(at - rest)) &&
        !config_check_is_address(url))
        return "a password does not belong here; write it to a file and name the file in "
               "redis.password_file";
    if (!made_of(rest, strlen(rest), scheme->max, scheme->signs) || !config_check_is_address(url))
        return scheme->why;
    return files_are_absolute(url) ? NULL : "ca, cert and key must begin with /";
}

const char *config_check_url(const char *url)
{
    if (strcmp(url, "embedded") == 0)
        return NULL;
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
           "\"redis://[user@]host[:port][/db]\", \"rediss://…\" with TLS, "
           "\"sentinel://host,host/NAME\" or \"cluster://host,host\"";
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

const char *config_check_hook(const char *name)
{
    return later_document_is_hook(name)
               ? NULL
               : "not a type; 1 to 128 of A-Z a-z 0-9 _ . : -, with or without @QUEUE behind it";
}

const char *config_check_member(const char *name)
{
    return made_of(name, strlen(name), 32, DIGITS LETTERS "_.:-")
               ? NULL
               : "not a member's name; 1 to 32 of A-Z a-z 0-9 _ . : -";
}

const char *config_check_group(const char *name)
{
    return strlen(name) <= 64 && later_key_name_valid(name)
               ? NULL
               : "not a group; 1 to 64 printable ASCII characters without space and braces";
}

const char *config_check_plugin(const char *name)
{
    return made_of(name, strlen(name), CONFIG_PLUGIN_NAME_MAX,
                   "abcdefghijklmnopqrstuvwxyz" DIGITS "_-")
               ? NULL
               : "not a plugin's name; 1 to 64 of a-z 0-9 _ -";
}
