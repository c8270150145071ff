/* http_config.c: plugins.config.http → targets. */
#include "http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEADER_MAX 4096 /* bytes of a line */

const char http_config_help[] =
    "plugins.config.http.NAME: where jobs of type http.NAME are posted\n"
    "  url           http:// or https://\n"
    "  send          \"document\", the default: the whole job; or \"payload\"\n"
    "  headers       a list of \"Name: value\"\n"
    "  headers_file  a file of such lines, for secrets; mode 0640 or less\n"
    "  private       true: private, loopback and link-local addresses are allowed, too\n"
    "  ca_file       certificates to trust instead of the system's\n"
    "  return        true: 429 and 503 with Retry-After cost no attempt: given back until then\n"
    "  value         true: the answer is the job's value, as JSON or as a string\n"
    "Status 2xx: done; 408, 425, 429, 5xx: retried, when Retry-After says; else: buried.";

static struct http_target *targets;
static size_t target_count;

static int http_config_refuse(char *err, size_t n, const char *text)
{
    snprintf(err, n, "%s", text);
    return -1;
}

const struct http_target *http_config_find(const char *name)
{
    for (size_t i = 0; i < target_count; i++) {
        if (strcmp(targets[i].name, name) == 0)
            return &targets[i];
    }
    return NULL;
}

void http_config_free(void)
{
    for (size_t i = 0; i < target_count; i++) {
        free(targets[i].name);
        free(targets[i].url);
        free(targets[i].ca_file);
        free(targets[i].headers_file);
        http_curl.slist_free_all(targets[i].headers);
    }
    free(targets);
    targets = NULL;
    target_count = 0;
}

/* Returns the target of this name, and makes it if there is none. NULL without memory. */
static struct http_target *target_of(const char *name)
{
    struct http_target *target = (struct http_target *)http_config_find(name), *grown;

    if (target)
        return target;
    grown = realloc(targets, (target_count + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    targets = grown;
    target = &targets[target_count];
    memset(target, 0, sizeof *target);
    target->name = strdup(name);
    if (!target->name)
        return NULL;
    target_count++;
    return target;
}

static int http_config_set_text(char **text, const char *value, char *err, size_t n)
{
    free(*text);
    *text = strdup(value);
    return *text ? 0 : http_config_refuse(err, n, "no memory");
}

static int http_config_set_flag(bool *flag, const char *value, char *err, size_t n)
{
    if (strcmp(value, "true") != 0 && strcmp(value, "false") != 0)
        return http_config_refuse(err, n, "must be true or false");
    *flag = value[0] == 't';
    return 0;
}

/* laterd --print-config would show a password. Schemes other than these two can read files. */
static int set_url(struct http_target *target, const char *value, char *err, size_t n)
{
    char *scheme = NULL, *user = NULL, *password = NULL;
    CURLU *url = http_curl.url();
    int result;

    if (!url)
        return http_config_refuse(err, n, "no memory");
    if (http_curl.url_set(url, CURLUPART_URL, value, 0) != CURLUE_OK ||
        http_curl.url_get(url, CURLUPART_SCHEME, &scheme, 0) != CURLUE_OK)
        result = http_config_refuse(err, n, "no URL; such as \"https://example.org/hook\"");
    else if (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0)
        result = http_config_refuse(err, n, "must begin with http:// or https://");
    else if (http_curl.url_get(url, CURLUPART_USER, &user, 0) == CURLUE_OK ||
             http_curl.url_get(url, CURLUPART_PASSWORD, &password, 0) == CURLUE_OK)
        result = http_config_refuse(
            err, n, "no user and password here: put Authorization into headers_file");
    else
        result = http_config_set_text(&target->url, value, err, n);
    http_curl.free(scheme);
    http_curl.free(user);
    http_curl.free(password);
    http_curl.url_cleanup(url);
    return result;
}

static int set_send(struct http_target *target, const char *value, char *err, size_t n)
{
    target->payload = strcmp(value, "payload") == 0;
    if (!target->payload && strcmp(value, "document") != 0)
        return http_config_refuse(err, n, "must be \"document\" or \"payload\"");
    return 0;
}

/* Is this header one that we set? */
static bool http_config_is_ours(const char *header, size_t len)
{
    static const char *const ours[] = { "Content-Length", "Transfer-Encoding", "Host", "Connection",
                                        "Expect",         "Idempotency-Key" };

    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
        if (strlen(ours[i]) == len && strncasecmp(ours[i], header, len) == 0)
            return true;
    }
    return len > 6 && strncasecmp(header, "Later-", 6) == 0;
}

static int http_config_add_header(struct http_target *target, const char *value, char *err,
                                  size_t n)
{
    static const char token[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "!#$%&'*+-.^_`|~"; /* RFC 9110, section 5.6.2 */
    size_t len = strspn(value, token);
    struct curl_slist *list;

    if (len == 0 || value[len] != ':' || value[len + 1 + strspn(value + len + 1, " \t")] == '\0')
        return http_config_refuse(err, n, "a header must be \"Name: value\"");
    for (const char *at = value + len; *at; at++) {
        if (((unsigned char)*at < ' ' && *at != '\t') || *at == 0x7f)
            return http_config_refuse(err, n, "a header must have no control characters");
    }
    if (http_config_is_ours(value, len)) {
        snprintf(err, n, "the header %.*s is set by laterd", (int)len, value);
        return -1;
    }
    target->has_type = target->has_type || strncasecmp(value, "Content-Type:", 13) == 0;
    list = http_curl.slist_append(target->headers, value);
    if (!list)
        return http_config_refuse(err, n, "no memory");
    target->headers = list;
    return 0;
}

int http_config(const char *key, const char *value, char *err, size_t n)
{
    const char *dot = strchr(key, '.');
    struct http_target *target;
    char name[129];

    if (!dot || dot == key || (size_t)(dot - key) >= sizeof name)
        return http_config_refuse(
            err, n, "must be a group: NAME = { url = \"https://example.org/hook\"; };");
    if (http_curl_load(err, n) != 0)
        return -1;
    snprintf(name, sizeof name, "%.*s", (int)(dot - key), key);
    target = target_of(name);
    if (!target)
        return http_config_refuse(err, n, "no memory");
    if (strcmp(dot, ".url") == 0)
        return set_url(target, value, err, n);
    if (strcmp(dot, ".send") == 0)
        return set_send(target, value, err, n);
    if (strncmp(dot, ".headers.", 9) == 0)
        return http_config_add_header(target, value, err, n);
    if (strcmp(dot, ".headers_file") == 0)
        return http_config_set_text(&target->headers_file, value, err, n);
    if (strcmp(dot, ".private") == 0)
        return http_config_set_flag(&target->private, value, err, n);
    if (strcmp(dot, ".return") == 0)
        return http_config_set_flag(&target->give_back, value, err, n);
    if (strcmp(dot, ".value") == 0)
        return http_config_set_flag(&target->value, value, err, n);
    if (strcmp(dot, ".ca_file") == 0)
        return http_config_set_text(&target->ca_file, value, err, n);
    return http_config_refuse(
        err, n,
        "unknown; there are url, send, headers (a list), headers_file, private, "
        "ca_file, return and value");
}

static int read_lines(struct http_target *target, FILE *file, char *err, size_t n)
{
    char line[HEADER_MAX + 2], why[200];

    for (unsigned number = 1; fgets(line, sizeof line, file); number++) {
        size_t len = strcspn(line, "\r\n");

        if (len > HEADER_MAX) {
            snprintf(err, n, "%s: %s:%u: longer than 4096 bytes", target->name,
                     target->headers_file, number);
            return -1;
        }
        line[len] = '\0';
        if (len > 0 && line[0] != '#' &&
            http_config_add_header(target, line, why, sizeof why) != 0) {
            snprintf(err, n, "%s: %s:%u: %s", target->name, target->headers_file, number, why);
            return -1;
        }
    }
    return 0;
}

static int read_headers(struct http_target *target, char *err, size_t n)
{
    FILE *file = fopen(target->headers_file, "re");
    struct stat st;
    int result = -1;

    if (!file || fstat(fileno(file), &st) != 0)
        snprintf(err, n, "%s: headers_file %s: %s", target->name, target->headers_file,
                 strerror(errno));
    else if (!S_ISREG(st.st_mode) || (st.st_mode & 027))
        snprintf(err, n, "%s: headers_file %s: others can read it; chmod 0640 or less",
                 target->name, target->headers_file);
    else
        result = read_lines(target, file, err, n);
    if (file)
        fclose(file);
    return result;
}

/* A missing file is reported now, not when the first job needs it. */
int http_config_done(char *err, size_t n)
{
    for (size_t i = 0; i < target_count; i++) {
        struct http_target *target = &targets[i];

        if (!target->url) {
            snprintf(err, n, "%s: url is missing", target->name);
            return -1;
        }
        if (target->ca_file && access(target->ca_file, R_OK) != 0) {
            snprintf(err, n, "%s: ca_file %s: %s", target->name, target->ca_file, strerror(errno));
            return -1;
        }
        if (target->headers_file && read_headers(target, err, n) != 0)
            return -1;
    }
    return 0;
}
