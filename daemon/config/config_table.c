/* config_table.c: the options of laterd, one row each. */
#include "config/config_table.h"

#include "config/config_check.h"

#include <stdlib.h>
#include <string.h>

#define TOP(member)   offsetof(struct config, member)
#define QUEUE(member) offsetof(struct config_queue, member)
#define POOL(member)  offsetof(struct config_pool, member)
#define TYPE(member)  offsetof(struct config_type, member)
#define LIMIT(member) offsetof(struct config_limit, member)
#define CRON(member)  offsetof(struct config_cron, member)

#ifndef LATER_STATE_DIR
#define LATER_STATE_DIR "/var/lib/laterd"
#endif

#define NOT_SET (-1.0) /* of a type: the global value will be taken */

/* In the order in which --print-config writes them; the members of a group stand together. */
const struct config_row config_table[] = {
    { "redis.url", CONFIG_STRING, CONFIG_TOP, true, TOP(redis.url), .text = "embedded",
      .check = config_check_url,
      .help = "Where Redis is: \"embedded\" (laterd runs its own), \"unix:/path\" or "
              "\"redis://[user@]host[:port][/db]\"." },
    { "redis.password_file", CONFIG_STRING, CONFIG_TOP, true, TOP(redis.password_file),
      .check = config_check_absolute,
      .help = "File whose first line is the password for Redis; others must not read it." },
    { "redis.prefix", CONFIG_STRING, CONFIG_TOP, true, TOP(redis.prefix), .text = "later",
      .check = config_check_prefix, .help = "What the names of all keys in Redis begin with." },
    { "state_dir", CONFIG_STRING, CONFIG_TOP, true, TOP(state_dir), .text = LATER_STATE_DIR,
      .check = config_check_state_dir,
      .help = "Directory for the embedded server's data and socket and for the slot pages." },
    { "workers", CONFIG_UINT, CONFIG_TOP, .offset = offsetof(struct config_draft, workers),
      .preset = 0, .min = 0, .max = 1024, .help = "Worker processes; 0 = one per core." },
    { "queues", CONFIG_MANY, CONFIG_TOP, .form = "list of groups", .text = "one queue, \"default\"",
      .help = "Queues the workers take from: weights on all of them, or on none, which means "
              "strictly in this order." },
    { "pools", CONFIG_MANY, CONFIG_TOP, .form = "list of groups", .text = "none",
      .help = "Groups of workers with queues of their own, instead of workers and queues." },
    { "lease", CONFIG_REAL, CONFIG_TOP, .offset = TOP(lease), .preset = 30, .min = 1, .max = 3600,
      .unit = "seconds",
      .help = "How long a reservation holds unless it is renewed; a lost host's jobs come back "
              "after it." },
    { "timeout", CONFIG_REAL, CONFIG_TOP, .offset = TOP(timeout), .preset = 300, .min = 0.05,
      .max = 604800, .unit = "seconds", .help = "How long one attempt may run." },
    { "timeout_max", CONFIG_REAL, CONFIG_TOP, .offset = TOP(ceiling.timeout), .preset = 604800,
      .min = 0.05, .max = 604800, .unit = "seconds",
      .help = "A job's document may ask for no more." },
    { "grace", CONFIG_REAL, CONFIG_TOP, .offset = TOP(grace), .preset = 10, .min = 0, .max = 3600,
      .unit = "seconds", .help = "Time between TERM and KILL for a job that must end." },
    { "drain", CONFIG_REAL, CONFIG_TOP, .offset = TOP(drain), .preset = 30, .min = 0, .max = 3600,
      .unit = "seconds", .help = "How long running jobs may go on when laterd stops." },
    { "events", CONFIG_UINT, CONFIG_TOP, .offset = TOP(events), .preset = 1000, .min = 1,
      .max = 10000, .help = "Event jobs at once in one worker." },
    { "retry.max_attempts", CONFIG_UINT, CONFIG_TOP, .offset = TOP(max_attempts), .preset = 25,
      .min = 1, .max = 1000000, .help = "Attempts after which a job is buried." },
    { "retry.base", CONFIG_REAL, CONFIG_TOP, .offset = TOP(backoff.base), .preset = 1, .min = 0,
      .max = LATER_DELAY_MAX, .unit = "seconds",
      .help = "Wait before the second attempt; it doubles with each further one." },
    { "retry.max", CONFIG_REAL, CONFIG_TOP, .offset = TOP(backoff.max), .preset = 3600, .min = 0,
      .max = LATER_DELAY_MAX, .unit = "seconds", .help = "No wait is longer." },
    { "retry.jitter", CONFIG_REAL, CONFIG_TOP, .offset = TOP(backoff.jitter), .preset = 0.25,
      .min = 0, .max = 1,
      .help = "How much of a wait is left to chance: 0.25 takes up to a quarter off." },
    { "retry.attempts_max", CONFIG_UINT, CONFIG_TOP, .offset = TOP(ceiling.attempts),
      .preset = 1000000, .min = 1, .max = 1000000,
      .help = "A job's document may ask for no more attempts." },
    { "retry.wait_min", CONFIG_REAL, CONFIG_TOP, .offset = TOP(ceiling.wait), .preset = 0, .min = 0,
      .max = LATER_DELAY_MAX, .unit = "seconds",
      .help = "A job's document may ask for no shorter wait before an attempt." },
    { "crash_max", CONFIG_UINT, CONFIG_TOP, .offset = TOP(crash_max), .preset = 3, .min = 1,
      .max = 1000, .help = "Crashes of its worker after which a job is buried." },
    { "unknown_max", CONFIG_REAL, CONFIG_TOP, .offset = TOP(unknown_max), .preset = 86400, .min = 0,
      .max = LATER_DELAY_MAX, .unit = "seconds",
      .help = "A job whose type no plugin has had for so long is buried; 0 = never." },
    { "recycle.jobs", CONFIG_UINT, CONFIG_TOP, .offset = TOP(recycle.jobs), .preset = 0, .min = 0,
      .max = 1e9, .help = "A worker is replaced after so many jobs; 0 = never." },
    { "recycle.memory", CONFIG_SIZE, CONFIG_TOP, .offset = TOP(recycle.memory), .preset = 0,
      .min = 0, .max = 16777216, .unit = "MiB",
      .help = "A worker is replaced when it holds so much memory; 0 = never." },
    { "recycle.age", CONFIG_REAL, CONFIG_TOP, .offset = TOP(recycle.age), .preset = 0, .min = 0,
      .max = 315360000, .unit = "seconds",
      .help = "A worker is replaced when it is so old; 0 = never." },
    { "types", CONFIG_MANY, CONFIG_TOP, .form = "list of groups", .text = "none",
      .help = "Other values for jobs of a type, or of all types that begin so (\"video.*\")." },
    { "dead.max", CONFIG_SIZE, CONFIG_TOP, .offset = TOP(dead.max), .preset = 0, .min = 0,
      .max = 1e12, .unit = "jobs",
      .help = "Dead jobs kept per queue, the oldest go first; 0 = all." },
    { "dead.days", CONFIG_REAL, CONFIG_TOP, .offset = TOP(dead.days), .preset = 0, .min = 0,
      .max = 36500, .unit = "days", .help = "How long a dead job is kept; 0 = for ever." },
    { "limits", CONFIG_MANY, CONFIG_TOP, .form = "list of groups", .text = "none",
      .help = "How many jobs of a type or a queue may begin in a time, on all hosts together." },
    { "cron", CONFIG_MANY, CONFIG_TOP, .form = "list of groups", .text = "none",
      .help = "Periodic jobs: what is pushed when, again and again, once for all hosts." },
    { "document.max", CONFIG_SIZE, CONFIG_TOP, .offset = TOP(document_max), .preset = 1048576,
      .min = 1024, .max = 67108864, .unit = "bytes", .help = "Largest job document." },
    { "plugins.dir", CONFIG_STRING, CONFIG_TOP, .offset = TOP(plugins.dir),
      .text = LATER_PLUGIN_DIR, .check = config_check_absolute,
      .help = "Directory of the plugins (NAME.so)." },
    { "plugins.load", CONFIG_MANY, CONFIG_TOP, .form = "list of strings",
      .text = "all in plugins.dir", .help = "Names of the plugins to load, without .so." },
    { "plugins.config", CONFIG_MANY, CONFIG_TOP, .form = "group of groups", .text = "none",
      .help = "For each plugin, by its name, what it is told when it is loaded." },
    { "log.level", CONFIG_CHOICE, CONFIG_TOP, .offset = TOP(log.level), .preset = CONFIG_LOG_INFO,
      .words = "error|warn|info|debug", .text = "info", .help = "Least weight of what is logged." },
    { "log.format", CONFIG_FLAG, CONFIG_TOP, .offset = TOP(log.json), .words = "text|json",
      .text = "text", .help = "Form of a log line." },
    { "log.rate", CONFIG_UINT, CONFIG_TOP, .offset = TOP(log.rate), .preset = 1000, .max = 1000000,
      .help = "Lines a second that each process may write; 0 = no limit." },
    { "history", CONFIG_FLAG, CONFIG_TOP, .preset = 1, .offset = TOP(history), .words = "off|on",
      .text = "on",
      .help = "Keep in Redis what became of attempts, and how long they waited and ran." },

    { "queues.name", CONFIG_NAME, CONFIG_IN_QUEUE, .offset = QUEUE(name), .max = LATER_QUEUE_MAX,
      .check = config_check_queue, .help = "The queue." },
    { "queues.weight", CONFIG_UINT, CONFIG_IN_QUEUE, .offset = QUEUE(weight), .min = 1, .max = 1000,
      .text = "none", .help = "Its share of the workers' looks." },
    { "queues.shards", CONFIG_UINT, CONFIG_IN_QUEUE, .offset = QUEUE(shards), .min = 1,
      .max = LATER_SHARDS_MAX, .text = "as many as it has",
      .help = "It is spread over so many queues NAME/0, NAME/1 ...: for a Redis Cluster." },
    { "queues.max_running", CONFIG_UINT, CONFIG_IN_QUEUE, .offset = QUEUE(max_running), .min = 1,
      .max = 1000000, .text = "no limit",
      .help = "So many of its jobs run at once, on all hosts together." },
    { "queues.max_jobs", CONFIG_SIZE, CONFIG_IN_QUEUE, .offset = QUEUE(max_jobs), .min = 1,
      .max = 1e12, .unit = "jobs", .text = "no limit",
      .help = "It has at most so many, in all states; push refuses more." },

    { "pools.name", CONFIG_NAME, CONFIG_IN_POOL, .offset = POOL(name), .max = LATER_QUEUE_MAX,
      .check = config_check_queue, .help = "The pool's name in logs and metrics." },
    { "pools.queues", CONFIG_MANY, CONFIG_IN_POOL, .form = "list of groups",
      .help = "As the option queues." },
    { "pools.workers", CONFIG_UINT, CONFIG_IN_POOL, .offset = POOL(workers), .preset = 0, .min = 0,
      .max = 1024, .help = "Its worker processes; 0 = one per core." },
    { "pools.memory_max", CONFIG_SIZE, CONFIG_IN_POOL, .offset = POOL(memory_max), .preset = 0,
      .min = 0, .max = 16777216, .unit = "MiB",
      .help = "Address space a worker may have; 0 = no limit." },
    { "pools.files_max", CONFIG_UINT, CONFIG_IN_POOL, .offset = POOL(files_max), .min = 32,
      .max = 1048576, .text = "as many as laterd", .help = "Descriptors a worker may have open." },

    { "types.name", CONFIG_NAME, CONFIG_IN_TYPE, .offset = TYPE(name), .max = 129,
      .check = config_check_pattern, .help = "The type, or how it begins with * behind." },
    { "types.timeout", CONFIG_REAL, CONFIG_IN_TYPE, .offset = TYPE(timeout), .preset = NOT_SET,
      .min = 0.05, .max = 604800, .unit = "seconds", .text = "the global value",
      .help = "As timeout." },
    { "types.max_attempts", CONFIG_UINT, CONFIG_IN_TYPE, .offset = TYPE(max_attempts), .min = 1,
      .max = 1000000, .text = "the global value", .help = "As retry.max_attempts." },
    { "types.timeout_max", CONFIG_REAL, CONFIG_IN_TYPE, .offset = TYPE(ceiling.timeout),
      .preset = NOT_SET, .min = 0.05, .max = 604800, .unit = "seconds", .text = "the global value",
      .help = "As timeout_max." },
    { "types.attempts_max", CONFIG_UINT, CONFIG_IN_TYPE, .offset = TYPE(ceiling.attempts), .min = 1,
      .max = 1000000, .text = "the global value", .help = "As retry.attempts_max." },
    { "types.wait_min", CONFIG_REAL, CONFIG_IN_TYPE, .offset = TYPE(ceiling.wait),
      .preset = NOT_SET, .min = 0, .max = LATER_DELAY_MAX, .unit = "seconds",
      .text = "the global value", .help = "As retry.wait_min." },
    { "types.base", CONFIG_REAL, CONFIG_IN_TYPE, .offset = TYPE(backoff.base), .preset = NOT_SET,
      .min = 0, .max = LATER_DELAY_MAX, .unit = "seconds", .text = "the global value",
      .help = "As retry.base." },
    { "types.max", CONFIG_REAL, CONFIG_IN_TYPE, .offset = TYPE(backoff.max), .preset = NOT_SET,
      .min = 0, .max = LATER_DELAY_MAX, .unit = "seconds", .text = "the global value",
      .help = "As retry.max." },
    { "types.jitter", CONFIG_REAL, CONFIG_IN_TYPE, .offset = TYPE(backoff.jitter),
      .preset = NOT_SET, .min = 0, .max = 1, .text = "the global value",
      .help = "As retry.jitter." },
    { "types.backoff", CONFIG_MANY, CONFIG_IN_TYPE, .max = LATER_DELAY_MAX, .unit = "seconds",
      .form = "list of numbers", .text = "none",
      .help = "The waits one by one, instead of base, max and jitter." },
    { "types.exclusive", CONFIG_FLAG, CONFIG_IN_TYPE, .offset = TYPE(exclusive), .words = "no|type",
      .text = "no",
      .help = "\"type\": no two jobs of the same type run at once, on all hosts together." },
    { "types.max_running", CONFIG_UINT, CONFIG_IN_TYPE, .offset = TYPE(max_running), .min = 1,
      .max = 1000000, .text = "no limit",
      .help = "So many jobs of this entry run at once, on all hosts together." },
    { "types.result", CONFIG_REAL, CONFIG_IN_TYPE, .offset = TYPE(result), .min = 0,
      .max = LATER_RESULT_MAX, .unit = "seconds",
      .help = "What a handler gives back, or why it failed, is kept so long; 0: not at all." },

    { "limits.type", CONFIG_NAME, CONFIG_IN_LIMIT, .offset = LIMIT(type), .max = 129,
      .check = config_check_pattern, .text = "none",
      .help = "The type, or how it begins with * behind." },
    { "limits.queue", CONFIG_NAME, CONFIG_IN_LIMIT, .offset = LIMIT(queue), .max = LATER_QUEUE_MAX,
      .check = config_check_queue, .text = "none", .help = "Or the queue." },
    { "limits.member", CONFIG_NAME, CONFIG_IN_LIMIT, .offset = LIMIT(member), .max = 32,
      .check = config_check_member, .text = "none",
      .help = "A member of the payload: jobs are counted apart for each value of it." },
    { "limits.max", CONFIG_UINT, CONFIG_IN_LIMIT, .offset = LIMIT(max), .min = 1, .max = 1000000,
      .help = "So many jobs." },
    { "limits.per", CONFIG_REAL, CONFIG_IN_LIMIT, .offset = LIMIT(per), .min = 0.001, .max = 86400,
      .unit = "seconds", .help = "In so long." },
    { "limits.window", CONFIG_FLAG, CONFIG_IN_LIMIT, .preset = 1, .offset = LIMIT(sliding),
      .words = "fixed|sliding", .text = "sliding",
      .help = "Counted from each job (sliding) or in fixed spans of time." },

    { "cron.name", CONFIG_NAME, CONFIG_IN_CRON, .offset = CRON(name),
      .max = LATER_SCHEDULE_NAME_MAX, .help = "The schedule's name." },
    { "cron.at", CONFIG_STRING, CONFIG_IN_CRON, .offset = CRON(at),
      .help = "When: minute hour day month weekday, as in crontab(5), or @daily and the like." },
    { "cron.every", CONFIG_REAL, CONFIG_IN_CRON, .offset = CRON(every), .preset = NOT_SET, .min = 1,
      .max = LATER_EVERY_MAX, .unit = "seconds", .text = "none",
      .help = "Or: at multiples of this time since 1970; whole seconds." },
    { "cron.zone", CONFIG_STRING, CONFIG_IN_CRON, .offset = CRON(zone),
      .help = "Whose clocks `at` means, as Europe/Berlin; without it UTC." },
    { "cron.queue", CONFIG_NAME, CONFIG_IN_CRON, .offset = CRON(queue), .max = LATER_QUEUE_MAX,
      .check = config_check_queue, .text = "\"default\"",
      .help = "Where its jobs are pushed; one of those that are served here." },
    { "cron.type", CONFIG_NAME, CONFIG_IN_CRON, .offset = CRON(type), .max = 128,
      .help = "The type of its jobs." },
    { "cron.payload", CONFIG_STRING, CONFIG_IN_CRON, .offset = CRON(payload),
      .help = "Their payload, JSON." },
    { "cron.catch_up", CONFIG_CHOICE, CONFIG_IN_CRON, .offset = CRON(catch_up), .preset = 0,
      .words = "last|none|all", .text = "last",
      .help = "Of ticks missed while no host was up: the last one, none, or all of a day, at most "
              "100." },
    { "cron.overlap", CONFIG_CHOICE, CONFIG_IN_CRON, .offset = CRON(overlap), .preset = 0,
      .words = "allow|skip|replace|queue", .text = "allow",
      .help = "Where the last job has not ended: push another; none; another in the place of one "
              "that waits; none only if that one waits." },
    { "cron.spread", CONFIG_REAL, CONFIG_IN_CRON, .offset = CRON(spread), .preset = 0, .min = 0,
      .max = LATER_SCHEDULE_TIME_MAX, .unit = "seconds",
      .help = "Each job is due at a time of its own in so many seconds after its tick." },
    { "cron.late", CONFIG_REAL, CONFIG_IN_CRON, .offset = CRON(late), .preset = LATER_SCHEDULE_LATE,
      .min = 0, .max = LATER_SCHEDULE_TIME_MAX, .unit = "seconds",
      .help = "A tick that is later than this was missed." },
    { "cron.priority", CONFIG_REAL, CONFIG_IN_CRON, .offset = CRON(priority), .preset = 0,
      .min = -100, .max = 100, .help = "Of its jobs; higher first." },
    { "cron.max_attempts", CONFIG_UINT, CONFIG_IN_CRON, .offset = CRON(max_attempts), .min = 1,
      .max = 1000000, .text = "by type", .help = "As retry.max_attempts." },
    { "cron.timeout", CONFIG_REAL, CONFIG_IN_CRON, .offset = CRON(timeout), .preset = NOT_SET,
      .min = 0.05, .max = 604800, .unit = "seconds", .text = "by type", .help = "As timeout." },
};

const size_t config_table_count = sizeof config_table / sizeof *config_table;

const struct config_row *config_row_find(const char *path)
{
    for (size_t i = 0; i < config_table_count; i++) {
        if (strcmp(config_table[i].path, path) == 0)
            return &config_table[i];
    }
    return NULL;
}

_Static_assert(sizeof(enum config_log_level) == sizeof(unsigned), "a choice is an unsigned");

static const size_t kind_size[] = {
    [CONFIG_UINT] = sizeof(uint32_t),
    [CONFIG_SIZE] = sizeof(uint64_t),
    [CONFIG_REAL] = sizeof(double),
    [CONFIG_STRING] = sizeof(char *),
    [CONFIG_NAME] = 1,
    [CONFIG_CHOICE] = sizeof(unsigned),
    [CONFIG_FLAG] = sizeof(bool),
    [CONFIG_MANY] = 0,
};

void config_store(const struct config_row *row, void *base, double value)
{
    void *at = (char *)base + row->offset;

    if (row->kind == CONFIG_UINT)
        *(uint32_t *)at = (uint32_t)value;
    else if (row->kind == CONFIG_SIZE)
        *(uint64_t *)at = (uint64_t)value;
    else if (row->kind == CONFIG_REAL)
        *(double *)at = value + 0.0; /* makes 0 of -0, so that equal values have equal bytes */
    else if (row->kind == CONFIG_CHOICE)
        *(unsigned *)at = (unsigned)value;
    else if (row->kind == CONFIG_FLAG)
        *(bool *)at = value > 0;
}

double config_fetch(const struct config_row *row, const void *base)
{
    const void *at = (const char *)base + row->offset;

    switch (row->kind) {
    case CONFIG_UINT:
        return *(const uint32_t *)at;
    case CONFIG_SIZE:
        return (double)*(const uint64_t *)at;
    case CONFIG_REAL:
        return *(const double *)at;
    case CONFIG_CHOICE:
        return *(const unsigned *)at;
    case CONFIG_FLAG:
        return *(const bool *)at;
    default:
        return 0;
    }
}

static int preset_row(const struct config_row *row, void *base)
{
    char *at = (char *)base + row->offset;

    if (row->kind == CONFIG_STRING) {
        *(char **)at = row->text ? strdup(row->text) : NULL;
        return row->text && !*(char **)at ? -1 : 0;
    }
    if (row->kind == CONFIG_NAME)
        *at = '\0';
    config_store(row, base, row->preset);
    return 0;
}

int config_preset(enum config_scope scope, void *base)
{
    int result = 0;

    for (size_t i = 0; i < config_table_count; i++) {
        if (config_table[i].scope == scope)
            result |= preset_row(&config_table[i], base);
    }
    return result;
}

void config_strings_free(enum config_scope scope, void *base)
{
    for (size_t i = 0; i < config_table_count; i++) {
        if (config_table[i].scope == scope && config_table[i].kind == CONFIG_STRING)
            free(*(char **)((char *)base + config_table[i].offset));
    }
}

bool config_row_equal(const struct config_row *row, const void *a, const void *b)
{
    const char *x = (const char *)a + row->offset, *y = (const char *)b + row->offset;

    if (row->kind == CONFIG_STRING) {
        x = *(char *const *)x;
        y = *(char *const *)y;
        return x && y ? strcmp(x, y) == 0 : x == y;
    }
    if (row->kind == CONFIG_NAME)
        return strcmp(x, y) == 0;
    return memcmp(x, y, kind_size[row->kind]) == 0;
}
