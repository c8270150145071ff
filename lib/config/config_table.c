/* config_table.c: the options of laterd, one row each. */
#include "config/config_table.h"

#include "config/config_check.h"
#include "job/document.h"
#include "queue/event.h"
#include "queue/flow.h"
#include "queue/queue.h"

#include <stdlib.h>
#include <string.h>

/* What a row's member is in. */
#define STRUCT_TOP      struct config
#define STRUCT_DRAFT    struct config_draft
#define CONFIG_IN_DRAFT CONFIG_IN_TOP
#define STRUCT_QUEUE    struct config_queue
#define STRUCT_POOL     struct config_pool
#define STRUCT_TYPE     struct config_type
#define STRUCT_LIMIT    struct config_limit
#define STRUCT_GROUP    struct config_group
#define STRUCT_CRON     struct config_cron

/* All of a row but its help. Numbers: default, least, most, unit. Strings: default, check. Names:
 * longest, check. Words: default, all of them, the default as a word. Lists: form, the default in
 * words. */
#define LIST(in, path_, form_, text_)                                                              \
    .path = (path_), .kind = CONFIG_MANY, .scope = CONFIG_IN_##in, .form = (form_), .text = (text_)
#define MEMBER(kind_, in, path_, member)                                                           \
    .path = (path_), .kind = CONFIG_##kind_, .scope = CONFIG_IN_##in,                              \
    .offset = offsetof(STRUCT_##in, member)
#define NUMBER(kind, in, path, member, preset_, min_, max_, unit_)                                 \
    MEMBER(kind, in, path, member), .preset = (preset_), .min = (min_), .max = (max_),             \
                                    .unit = (unit_)
#define UINT(...) NUMBER(UINT, __VA_ARGS__)
#define SIZE(...) NUMBER(SIZE, __VA_ARGS__)
#define REAL(...) NUMBER(REAL, __VA_ARGS__)
#define STRING(in, path, member, text_, check_)                                                    \
    MEMBER(STRING, in, path, member), .text = (text_), .check = (check_)
#define NAME(in, path, member, max_, check_)                                                       \
    MEMBER(NAME, in, path, member), .max = (max_), .check = (check_)
#define WORDS(kind, in, path, member, preset_, words_, text_)                                      \
    MEMBER(kind, in, path, member), .preset = (preset_), .words = (words_), .text = (text_)
#define FIXED   .fixed = true
#define OF_JOBS .of_jobs = true

#ifndef LATER_STATE_DIR
#define LATER_STATE_DIR "/var/lib/laterd"
#endif

#define NOT_SET (-1.0) /* for a type: it gets the global value */

/* --print-config uses this order; the members of a group are together. */
const struct config_row config_table[] = {
    { STRING(TOP, "redis.url", redis.url, "embedded", config_check_url), FIXED,
      .help = "Where Redis is: \"embedded\" (laterd runs its own), \"unix:/path\" or "
              "\"redis://[user@]host[:port][/db]\"." },
    { STRING(TOP, "redis.password_file", redis.password_file, NULL, config_check_absolute), FIXED,
      .help = "File whose first line is the password for Redis; others must not read it." },
    { STRING(TOP, "redis.prefix", redis.prefix, "later", config_check_prefix), FIXED,
      .help = "What the names of all keys in Redis begin with." },
    { STRING(TOP, "state_dir", state_dir, LATER_STATE_DIR, config_check_state_dir), FIXED,
      .help = "Directory for the embedded server's data and socket and for the slot pages." },
    { UINT(DRAFT, "workers", workers, 0, 0, 1024, NULL),
      .help = "Worker processes; 0 = one per core." },
    { LIST(TOP, "queues", "list of groups", "one queue, \"default\""),
      .help = "Queues that the workers serve. Either all have weights, or none has, and they are "
              "served strictly in this order." },
    { LIST(TOP, "pools", "list of groups", "none"),
      .help = "Groups of workers with queues of their own, instead of workers and queues." },
    { REAL(TOP, "lease", lease, 30, 1, 3600, "seconds"),
      .help = "How long a reservation holds unless it is renewed, and so how long until a lost "
              "host's jobs come back." },
    { REAL(TOP, "timeout", timeout, 300, 0.05, LATER_TIMEOUT_MAX, "seconds"), OF_JOBS,
      .help = "How long one attempt may run." },
    { REAL(TOP, "timeout_max", ceiling.timeout, LATER_TIMEOUT_MAX, 0.05, LATER_TIMEOUT_MAX,
           "seconds"),
      OF_JOBS, .help = "The longest timeout that a job's document may ask for." },
    { REAL(TOP, "grace", grace, 10, 0, 3600, "seconds"),
      .help = "Time between TERM and KILL for a job that must end." },
    { REAL(TOP, "drain", drain, 30, 0, LATER_TIMEOUT_MAX, "seconds"),
      .help = "How long running jobs may go on when laterd stops." },
    { UINT(TOP, "events", events, 1000, 1, 10000, NULL),
      .help = "How many event jobs one worker runs at once." },
    { UINT(TOP, "retry.max_attempts", max_attempts, 25, 1, LATER_MAX_ATTEMPTS_MAX, NULL), OF_JOBS,
      .help = "Attempts after which a job is buried." },
    { REAL(TOP, "retry.base", backoff.base, 1, 0, LATER_DELAY_MAX, "seconds"), OF_JOBS,
      .help = "Wait before the second attempt; it doubles with each further one." },
    { REAL(TOP, "retry.max", backoff.max, 3600, 0, LATER_DELAY_MAX, "seconds"), OF_JOBS,
      .help = "The longest wait." },
    { REAL(TOP, "retry.jitter", backoff.jitter, 0.25, 0, 1, NULL), OF_JOBS,
      .help = "How much of a wait is random: 0.25 takes up to a quarter off." },
    { UINT(TOP, "retry.attempts_max", ceiling.attempts, LATER_MAX_ATTEMPTS_MAX, 1,
           LATER_MAX_ATTEMPTS_MAX, NULL),
      OF_JOBS, .help = "The most attempts that a job's document may ask for." },
    { REAL(TOP, "retry.wait_min", ceiling.wait, 0, 0, LATER_DELAY_MAX, "seconds"), OF_JOBS,
      .help = "The shortest wait that a job's document may ask for." },
    { UINT(TOP, "crash_max", crash_max, 3, 1, 1000, NULL), OF_JOBS,
      .help = "Crashes of its worker after which a job is buried." },
    { REAL(TOP, "unknown_max", unknown_max, 86400, 0, LATER_DELAY_MAX, "seconds"), OF_JOBS,
      .help = "How long a job waits for a plugin with its type before it is buried; 0 = never." },
    { UINT(TOP, "recycle.jobs", recycle.jobs, 0, 0, 1e9, NULL),
      .help = "Jobs after which a worker is replaced; 0 = never." },
    { SIZE(TOP, "recycle.memory", recycle.memory, 0, 0, 16777216, "MiB"),
      .help = "Memory in use at which a worker is replaced; 0 = never." },
    { REAL(TOP, "recycle.age", recycle.age, 0, 0, 315360000, "seconds"),
      .help = "Age at which a worker is replaced; 0 = never." },
    { UINT(TOP, "stop_after", stop_after, 0, 0, 1e9, "jobs"), FIXED,
      .help = "Jobs after which laterd stops, as by TERM; 0 = never." },
    { LIST(TOP, "types", "list of groups", "none"), OF_JOBS,
      .help = "Options for jobs of a type, or of all types that begin alike (\"video.*\")." },
    { SIZE(TOP, "dead.max", dead.max, 0, 0, 1e12, "jobs"), OF_JOBS,
      .help = "Dead jobs kept per queue, the oldest go first; 0 = all." },
    { REAL(TOP, "dead.days", dead.days, 0, 0, 36500, "days"), OF_JOBS,
      .help = "How long a dead job is kept; 0 = for ever." },
    { UINT(TOP, "keep.max", keep.max, 1000, 1, 1000000, "jobs"), OF_JOBS,
      .help = "Done jobs kept per queue if types.keep asks for it." },
    { REAL(TOP, "flows.keep", flows.keep, LATER_FLOW_KEPT, 1, 31536000, "seconds"), OF_JOBS,
      .help = "How long a flow that has ended is kept, to be looked at." },
    { LIST(TOP, "limits", "list of groups", "none"), OF_JOBS,
      .help = "How many jobs of a type or a queue may begin in a span of time, on all hosts "
              "together." },
    { LIST(TOP, "groups", "list of groups", "none"), OF_JOBS,
      .help = "Groups of jobs, which share a queue fairly: their weights, and how many of each may "
              "run at once." },
    { LIST(TOP, "cron", "list of groups", "none"),
      .help = "Schedules: what to push, and when, once for all hosts." },
    { SIZE(TOP, "document.max", document_max, 1048576, 1024, 67108864, "bytes"), OF_JOBS,
      .help = "Largest job document." },
    { STRING(TOP, "plugins.dir", plugins.dir, LATER_PLUGIN_DIR, config_check_absolute),
      .help = "Directory of the plugins (NAME.so)." },
    { LIST(TOP, "plugins.load", "list of strings", "all in plugins.dir"),
      .help = "Names of the plugins to load, without .so." },
    { LIST(TOP, "plugins.config", "group of groups", "none"),
      .help = "The options of each plugin, by its name." },
    { WORDS(CHOICE, TOP, "log.level", log.level, CONFIG_LOG_INFO, "error|warn|info|debug", "info"),
      .help = "The lowest level that is logged." },
    { WORDS(FLAG, TOP, "log.format", log.json, 0, "text|json", "text"),
      .help = "Form of a log line." },
    { UINT(TOP, "log.rate", log.rate, 1000, 0, 1000000, NULL),
      .help = "How many lines each process may log in a second; 0 = no limit." },
    { WORDS(FLAG, TOP, "history", history, 1, "off|on", "on"),
      .help = "Keep counts in Redis: what became of attempts, how long jobs waited and ran." },

    { NAME(QUEUE, "queues.name", name, LATER_QUEUE_MAX, config_check_served),
      .help = "The queue; with * at the end, all queues whose names begin with it." },
    { UINT(QUEUE, "queues.weight", weight, 0, 1, 1000, NULL), .text = "none",
      .help = "Its share of the jobs." },
    { UINT(QUEUE, "queues.shards", shards, 0, 1, LATER_SHARDS_MAX, NULL),
      .text = "as many as it has",
      .help = "Queues NAME/0, NAME/1 ... over which it is spread, for a Redis Cluster." },
    { UINT(QUEUE, "queues.max_running", max_running, 0, 1, 1000000, NULL), .text = "no limit",
      .help = "How many of its jobs may run at once, on all hosts together." },
    { SIZE(QUEUE, "queues.max_jobs", max_jobs, 0, 1, 1e12, "jobs"), .text = "no limit",
      .help = "How many jobs it may have, in all states; push refuses more." },
    { UINT(QUEUE, "queues.events_kept", events_kept, 0, 0, LATER_EVENTS_MAX, "events"),
      .help = "How many ends of jobs it keeps for `later events`; 0: it tells of none." },
    { UINT(QUEUE, "queues.logs_kept", logs_kept, 0, 0, LATER_LOG_MAX, "lines"),
      .help = "How many of the lines that a job logs are kept with it; 0: none." },
    { NAME(QUEUE, "queues.on_dead", hooks.on_dead, 193, config_check_hook), .text = "none",
      .help = "The type of a job that is pushed when one of its jobs is dead." },
    { NAME(QUEUE, "queues.on_done", hooks.on_done, 193, config_check_hook), .text = "none",
      .help = "The type of a job that is pushed when one of its jobs is done." },

    { NAME(POOL, "pools.name", name, LATER_QUEUE_MAX, config_check_queue),
      .help = "The pool's name in logs and metrics." },
    { LIST(POOL, "pools.queues", "list of groups", NULL), .help = "As the option queues." },
    { UINT(POOL, "pools.workers", workers, 0, 0, 1024, NULL),
      .help = "Its worker processes; 0 = one per core." },
    { SIZE(POOL, "pools.memory_max", memory_max, 0, 0, 16777216, "MiB"),
      .help = "Address space a worker may have; 0 = no limit." },
    { UINT(POOL, "pools.files_max", files_max, 0, 32, 1048576, NULL), .text = "as many as laterd",
      .help = "Descriptors a worker may have open." },

    { NAME(TYPE, "types.name", name, 129, config_check_pattern),
      .help = "The type; with * at the end, all types that begin with it." },
    { REAL(TYPE, "types.timeout", timeout, NOT_SET, 0.05, LATER_TIMEOUT_MAX, "seconds"),
      .text = "the global value", .help = "As timeout." },
    { UINT(TYPE, "types.max_attempts", max_attempts, 0, 1, LATER_MAX_ATTEMPTS_MAX, NULL),
      .text = "the global value", .help = "As retry.max_attempts." },
    { REAL(TYPE, "types.timeout_max", ceiling.timeout, NOT_SET, 0.05, LATER_TIMEOUT_MAX, "seconds"),
      .text = "the global value", .help = "As timeout_max." },
    { UINT(TYPE, "types.attempts_max", ceiling.attempts, 0, 1, LATER_MAX_ATTEMPTS_MAX, NULL),
      .text = "the global value", .help = "As retry.attempts_max." },
    { REAL(TYPE, "types.wait_min", ceiling.wait, NOT_SET, 0, LATER_DELAY_MAX, "seconds"),
      .text = "the global value", .help = "As retry.wait_min." },
    { REAL(TYPE, "types.base", backoff.base, NOT_SET, 0, LATER_DELAY_MAX, "seconds"),
      .text = "the global value", .help = "As retry.base." },
    { REAL(TYPE, "types.max", backoff.max, NOT_SET, 0, LATER_DELAY_MAX, "seconds"),
      .text = "the global value", .help = "As retry.max." },
    { REAL(TYPE, "types.jitter", backoff.jitter, NOT_SET, 0, 1, NULL), .text = "the global value",
      .help = "As retry.jitter." },
    { LIST(TYPE, "types.backoff", "list of numbers", "none"), .max = LATER_DELAY_MAX,
      .unit = "seconds", .help = "The waits one by one, instead of base, max and jitter." },
    { WORDS(FLAG, TYPE, "types.exclusive", exclusive, 0, "no|type", "no"),
      .help = "\"type\": no two jobs of the same type run at once, on all hosts together." },
    { UINT(TYPE, "types.max_running", max_running, 0, 1, 1000000, NULL), .text = "no limit",
      .help = "How many jobs of this entry may run at once, on all hosts together." },
    { REAL(TYPE, "types.result", result, 0, 0, LATER_RESULT_MAX, "seconds"),
      .help = "How long a handler's value, or why the job failed, is kept; 0: not at all." },
    { REAL(TYPE, "types.keep", keep, 0, 0, 31536000, "seconds"),
      .help = "How long a job that is done is kept, to be looked at; 0: not at all." },
    { NAME(TYPE, "types.on_dead", hooks.on_dead, 193, config_check_hook), .text = "none",
      .help = "The type of a job that is pushed when one of this type is dead." },
    { NAME(TYPE, "types.on_done", hooks.on_done, 193, config_check_hook), .text = "none",
      .help = "The type of a job that is pushed when one of this type is done." },

    { NAME(LIMIT, "limits.type", type, 129, config_check_pattern), .text = "none",
      .help = "The type; with * at the end, all types that begin with it." },
    { NAME(LIMIT, "limits.queue", queue, LATER_QUEUE_MAX, config_check_queue), .text = "none",
      .help = "Or the queue." },
    { NAME(LIMIT, "limits.member", member, 32, config_check_member), .text = "none",
      .help = "A member of the payload: jobs are counted separately for each value of it." },
    { WORDS(FLAG, LIMIT, "limits.by", by_group, 0, "all|group", "all"),
      .help = "\"group\": jobs are counted separately for each group." },
    { UINT(LIMIT, "limits.max", max, 0, 1, 1000000, NULL),
      .help = "How many jobs may begin in the span `per`." },
    { REAL(LIMIT, "limits.per", per, 0, 0.001, 86400, "seconds"),
      .help = "The length of the span." },
    { WORDS(FLAG, LIMIT, "limits.window", sliding, 1, "fixed|sliding", "sliding"),
      .help = "Counted from each job (sliding) or in fixed spans of time." },

    { NAME(GROUP, "groups.queue", queue, LATER_QUEUE_MAX, config_check_queue),
      .help = "The queue." },
    { NAME(GROUP, "groups.group", group, 64, config_check_group), .text = "all without an entry",
      .help = "The group." },
    { REAL(GROUP, "groups.weight", weight, 0, 0.001, 1000, NULL), .text = "1",
      .help = "Its share of the queue." },
    { UINT(GROUP, "groups.max_running", max_running, 0, 1, 1000000, NULL), .text = "no limit",
      .help = "How many of its jobs may run at once, on all hosts together." },

    { NAME(CRON, "cron.name", name, LATER_SCHEDULE_NAME_MAX, NULL),
      .help = "The schedule's name." },
    { STRING(CRON, "cron.at", at, NULL, NULL),
      .help = "When: minute hour day month weekday, as in crontab(5), or @daily and the like." },
    { REAL(CRON, "cron.every", every, NOT_SET, 1, LATER_EVERY_MAX, "seconds"), .text = "none",
      .help = "Or: at multiples of this time since 1970; whole seconds." },
    { STRING(CRON, "cron.zone", zone, NULL, NULL),
      .help = "The zone whose clocks `at` refers to, such as Europe/Berlin; without it, UTC." },
    { STRING(CRON, "cron.from", from, NULL, NULL),
      .help = "No tick before this time: UNIX seconds, or 2026-01-31T12:00:00Z." },
    { STRING(CRON, "cron.until", until, NULL, NULL), .help = "No tick after this time." },
    /* clang-format off */
    /* @schedule limit: { {config}, .help = "{Help}" }, */
    { UINT(CRON, "cron.limit", limit, 0, 1, 1000000000, "jobs"), .text = "no limit", .help = "How many jobs it pushes in all." },
    /* @end */
    /* clang-format on */
    { NAME(CRON, "cron.queue", queue, LATER_QUEUE_MAX, config_check_queue), .text = "\"default\"",
      .help = "The queue for its jobs; one that is served here." },
    { NAME(CRON, "cron.type", type, 128, NULL), .help = "The type of its jobs." },
    { STRING(CRON, "cron.payload", payload, NULL, NULL), .help = "Their payload, JSON." },
    /* clang-format off */
    /* @schedule config: { {config}, .help = "{Help}" }, */
    { WORDS(CHOICE, CRON, "cron.catch_up", catch_up, 0, "last|none|all", "last"), .help = "Ticks missed while no host was up: the last, none, or all of a day, at most 100." },
    { WORDS(CHOICE, CRON, "cron.overlap", overlap, 0, "allow|skip|replace|queue", "allow"), .help = "If the last job has not ended: allow, skip, replace it if it waits, queue one." },
    { REAL(CRON, "cron.spread", spread, 0, 0, 31536000, "seconds"), .help = "Jobs are spread over this time after their ticks." },
    { REAL(CRON, "cron.late", late, 60, 0, 31536000, "seconds"), .help = "A tick that is later than this is missed." },
    { REAL(CRON, "cron.priority", priority, 0, -100, 100, NULL), .help = "Priority of its jobs, higher first." },
    { NAME(CRON, "cron.group", group, 64, config_check_group), .text = "none", .help = "The group of its jobs." },
    { REAL(CRON, "cron.expires_in", expires_in, NOT_SET, 1, 31536000, "seconds"), .text = "never", .help = "A job that has not begun this long after it was due is dropped." },
    /* @end */
    /* clang-format on */
    { UINT(CRON, "cron.max_attempts", max_attempts, 0, 1, LATER_MAX_ATTEMPTS_MAX, NULL),
      .text = "by type", .help = "As retry.max_attempts." },
    { REAL(CRON, "cron.timeout", timeout, NOT_SET, 0.05, LATER_TIMEOUT_MAX, "seconds"),
      .text = "by type", .help = "As timeout." },
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

const char *config_fixed_difference(const struct config *a, const struct config *b)
{
    for (size_t i = 0; i < config_table_count; i++) {
        if (config_table[i].fixed && !config_row_equal(&config_table[i], a, b))
            return config_table[i].path;
    }
    return NULL;
}
