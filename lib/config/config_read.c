/* config_read.c: one setting into the member that its row names. */
#include "config/config_read.h"

#include "config/config_scan.h"
#include "config/config_text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define PATH_MAX_LEN 160

struct config_location config_read_location(const struct config_reader *in,
                                            const config_setting_t *setting)
{
    /* the root has no line of its own */
    unsigned line = config_setting_source_line(setting);

    return config_scan_location(in->draft->scan, line > 0 ? line : 1);
}

const char *config_read_number_text(const config_setting_t *setting, char *out, size_t size)
{
    if (config_setting_type(setting) == CONFIG_TYPE_FLOAT)
        return config_text_real(config_setting_get_float(setting), out, size);
    snprintf(out, size, "%lld", config_setting_get_int64(setting));
    return out;
}

static const char *given(const config_setting_t *setting)
{
    switch (config_setting_type(setting)) {
    case CONFIG_TYPE_GROUP:
        return "a group { ... }";
    case CONFIG_TYPE_ARRAY:
        return "an array [ ... ]";
    case CONFIG_TYPE_LIST:
        return "a list ( ... )";
    case CONFIG_TYPE_STRING:
        return "a string";
    case CONFIG_TYPE_BOOL:
        return "true or false";
    default:
        return "a number";
    }
}

int config_fault(const struct config_reader *in, const config_setting_t *setting, const char *path,
                 const char *format, ...)
{
    struct config_location location = config_read_location(in, setting);
    char what[400];
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return config_text_fault(&location, path, in->err, "%s", what);
}

int config_read_mismatch(const struct config_reader *in, const config_setting_t *setting,
                         const char *path, const char *wanted)
{
    return config_fault(in, setting, path, "%s is given; %s is wanted", given(setting), wanted);
}

int config_read_number(struct config_reader *in, const config_setting_t *setting,
                       const struct config_row *row, double *value)
{
    bool whole = row->kind == CONFIG_UINT || row->kind == CONFIG_SIZE;
    bool time = row->unit && strcmp(row->unit, "seconds") == 0;
    char range[80], wanted[120], text[40];

    config_text_range(row, range, sizeof range);
    if (!config_setting_is_number(setting)) {
        snprintf(wanted, sizeof wanted, "%s, %s,", whole ? "a whole number" : "a number", range);
        return config_read_mismatch(in, setting, row->path, wanted);
    }
    config_read_number_text(setting, text, sizeof text);
    if (whole && config_setting_type(setting) == CONFIG_TYPE_FLOAT)
        return config_fault(in, setting, row->path,
                            "%s with a point or an exponent; a whole number is wanted, %s", text,
                            range);
    *value = config_setting_type(setting) == CONFIG_TYPE_FLOAT
                 ? config_setting_get_float(setting)
                 : (double)config_setting_get_int64(setting);
    if (*value < row->min)
        return config_fault(in, setting, row->path, "%s is too %s; %s", text,
                            time ? "short" : "small", range);
    if (*value > row->max)
        return config_fault(in, setting, row->path, "%s is too %s; %s", text,
                            time ? "long" : "large", range);
    return 0;
}

static int config_read_text(struct config_reader *in, const config_setting_t *setting,
                            const struct config_row *row, char *at)
{
    const char *value = config_setting_get_string(setting);
    const char *why = row->check ? row->check(value) : NULL;
    char *copy;

    if (why && row->kind == CONFIG_NAME)
        return config_fault(in, setting, row->path, "\"%.100s\": %s", value, why);
    if (why)
        return config_fault(in, setting, row->path, "%s", why);
    if (row->kind == CONFIG_NAME) {
        memcpy(at, value, strlen(value) + 1);
        return 0;
    }
    copy = strdup(value);
    if (!copy)
        return config_no_memory(in->err);
    free(*(char **)at);
    *(char **)at = copy;
    return 0;
}

static int config_read_word(struct config_reader *in, const config_setting_t *setting,
                            const struct config_row *row, void *base)
{
    const char *value = config_setting_get_string(setting);
    int index = config_text_word_index(row->words, value);
    char range[80];

    if (index < 0)
        return config_fault(in, setting, row->path, "\"%.100s\" is unknown; %s", value,
                            config_text_range(row, range, sizeof range));
    config_store(row, base, index);
    return 0;
}

static int config_read_row(struct config_reader *in, config_setting_t *setting,
                           const struct config_row *row, void *base)
{
    char range[80];
    double number = 0;

    if (row->scope == CONFIG_IN_TOP)
        in->draft->locations[row - config_table] = config_read_location(in, setting);
    if (row->kind == CONFIG_MANY)
        return in->many(in, setting, row, base);
    if (row->kind == CONFIG_UINT || row->kind == CONFIG_SIZE || row->kind == CONFIG_REAL) {
        if (config_read_number(in, setting, row, &number) < 0)
            return -1;
        config_store(row, base, number);
        return 0;
    }
    if (config_setting_type(setting) != CONFIG_TYPE_STRING)
        return config_read_mismatch(in, setting, row->path,
                                    config_text_range(row, range, sizeof range));
    if (row->words)
        return config_read_word(in, setting, row, base);
    return config_read_text(in, setting, row, (char *)base + row->offset);
}

static bool is_group(const char *path)
{
    size_t len = strlen(path);

    for (size_t i = 0; i < config_table_count; i++) {
        if (strncmp(config_table[i].path, path, len) == 0 && config_table[i].path[len] == '.')
            return true;
    }
    return false;
}

/* What other queues call an option, and what it is called here. */
static const struct {
    const char *foreign, *here;
} foreign_options[] = {
    { "concurrency", "workers" },
    { "threads", "workers" },
    { "processes", "workers" },
    { "password", "redis.password_file" },
    { "retries", "max_attempts" },
    { "max_retries", "max_attempts" },
    { "attempts", "max_attempts" },
    { "tries", "max_attempts" },
    { "timezone", "cron.zone" },
    { "tz", "cron.zone" },
    { "schedule", "cron.at" },
    { "expression", "cron.at" },
    { "interval", "cron.every" },
    { "shutdown_timeout", "drain" },
    { "schedule", "cron" },
    { "schedules", "cron" },
    { "host", "redis.url" },
    { "port", "redis.url" },
    { "db", "redis.url" },
    { "database", "redis.url" },
    { "visibility_timeout", "lease" },
};

/* Finds the option that is meant in this group, which is "" for none. Its name there, or NULL. */
static const char *config_read_foreign(const char *group, const char *name)
{
    for (size_t i = 0; i < sizeof foreign_options / sizeof *foreign_options; i++) {
        const char *here = foreign_options[i].here, *dot = strchr(here, '.');
        char path[PATH_MAX_LEN];

        if (strcmp(foreign_options[i].foreign, name) != 0 ||
            (dot && (strncmp(here, group, (size_t)(dot - here)) != 0 || group[dot - here] != '\0')))
            continue;
        here = dot ? dot + 1 : here;
        snprintf(path, sizeof path, "%s%s%s", group, *group ? "." : "", here);
        if (config_row_find(path))
            return here;
        if (strcmp(here, "max_attempts") == 0 && !*group)
            return "retry.max_attempts";
    }
    return NULL;
}

static int unknown(struct config_reader *in, const config_setting_t *setting, const char *group,
                   const char *path)
{
    const char *name = config_setting_name(setting), *here = config_read_foreign(group, name);
    char near[80];

    if (config_text_nearest(group, name, near, sizeof near))
        return config_fault(in, setting, path, "unknown option; did you mean \"%s\"?", near);
    if (here)
        return config_fault(in, setting, path, "unknown option; here that is %s", here);
    return config_fault(in, setting, path, "unknown option; laterd.conf(5) lists them");
}

/* Does it say where Redis is, or seem to be meant to? What is misspelt must not lead elsewhere. */
static bool is_of_where(const char *name)
{
    static const char *const wanted[] = { "redis", "state_dir", "document" };
    char near[80];

    if (!config_row_find(name) && !is_group(name) &&
        config_text_nearest("", name, near, sizeof near))
        name = near;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        if (strncmp(name, wanted[i], strlen(wanted[i])) == 0)
            return true;
    }
    return false;
}

static int config_read_member(struct config_reader *in, config_setting_t *setting,
                              const char *group, enum config_scope scope, void *base)
{
    const char *name = config_setting_name(setting);
    char path[PATH_MAX_LEN];
    const struct config_row *row;

    snprintf(path, sizeof path, "%s%s%s", group, *group ? "." : "", name);
    if (in->draft->of_where && scope == CONFIG_IN_TOP && !*group && !is_of_where(name))
        return 0;
    row = config_row_find(path);
    if (row && row->scope == scope)
        return config_read_row(in, setting, row, base);
    if (scope != CONFIG_IN_TOP || *group || !is_group(path))
        return unknown(in, setting, group, path);
    if (config_setting_type(setting) != CONFIG_TYPE_GROUP)
        return config_read_mismatch(in, setting, path, "a group { ... }");
    return config_read_group(in, setting, path, scope, base);
}

/* If the caller wants every fault, reports this one and empties the text, which tells the callers
 * above. Returns whether to go on. */
static bool told(struct config_reader *in)
{
    struct config_draft *draft = in->draft;

    if (!draft->fault)
        return false;
    if (in->err->text[0])
        draft->fault(in->err);
    in->err->text[0] = '\0';
    return true;
}

int config_read_group(struct config_reader *in, config_setting_t *setting, const char *group,
                      enum config_scope scope, void *base)
{
    int result = 0;

    for (int i = 0; i < config_setting_length(setting); i++) {
        if (config_read_member(in, config_setting_get_elem(setting, (unsigned)i), group, scope,
                               base) == 0)
            continue;
        if (!told(in))
            return -1;
        result = -1;
    }
    return result;
}

int config_read_list(struct config_reader *in, const config_setting_t *setting, const char *path,
                     int min, int max, bool arrays)
{
    int length = config_setting_is_aggregate(setting) ? config_setting_length(setting) : 0;

    if (!config_setting_is_list(setting) && !(arrays && config_setting_is_array(setting)))
        return config_read_mismatch(in, setting, path, "a list ( ... )");
    if (length < min)
        return config_fault(in, setting, path, "empty; at least one, or leave it out");
    if (length > max)
        return config_fault(in, setting, path, "%d are too many; at most %d", length, max);
    return length;
}

/* What an entry of this list looks like. Whoever writes ( "mail" ) means its name. */
static const char *config_read_example(const char *group)
{
    char path[PATH_MAX_LEN];

    snprintf(path, sizeof path, "%s.name", group);
    return config_row_find(path) ? "a group, such as { name = \"a\"; }," : "a group { ... }";
}

int config_read_element(struct config_reader *in, config_setting_t *element, const char *group,
                        enum config_scope scope, void *base)
{
    if (!config_setting_is_group(element))
        return config_read_mismatch(in, element, group, config_read_example(group));
    return config_preset(scope, base) < 0 ? config_no_memory(in->err)
                                          : config_read_group(in, element, group, scope, base);
}
