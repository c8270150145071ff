/*
 * config.h: laterd's configuration as one checked struct.
 *
 * config_table.c has one row per option (path, type, range, default, reloadable, help), and
 * everything else walks that table: reading, defaults, --print-config, and the tests that compare
 * it with etc/laterd.conf and the manual. An unknown key, a wrong type, a number out of range is
 * an error that names file and line. What includes config_read.h knows libconfig, nothing else
 * does.
 *
 * A struct config owns everything in it. Once it is in force only the queues of pools with patterns
 * grow (config_follow()).
 */
#ifndef LATER_CONFIG_H
#define LATER_CONFIG_H

#include "base/backoff.h"
#include "base/names.h"
#include "cron/schedule.h"
#include "job/verdict.h"
#include "redis/key.h"
#include "later/error.h"
#include "queue/shards.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#ifndef LATER_CONF_DIR
#define LATER_CONF_DIR "/etc/laterd"
#endif
#define CONFIG_FILE LATER_CONF_DIR "/laterd.conf" /* read if there; -c elsewhere */

#define CONFIG_QUEUES_MAX 4096 /* queues and shards in one pool */
#define CONFIG_WAITED     64 /* of a pool: more are waited for by the supervisor (wake_listener.h) */

enum config_log_level { CONFIG_LOG_ERROR, CONFIG_LOG_WARN, CONFIG_LOG_INFO, CONFIG_LOG_DEBUG };

/* What is pushed when a job is dead or done: TYPE or TYPE@QUEUE; "" = nothing. */
struct config_hooks {
    char on_dead[194], on_done[194];
};

/* A queue, or one of its shards, `mail/3`, which follow it with the same options. */
struct config_queue {
    char name[LATER_QUEUE_MAX + 1];
    uint32_t entry;            /* which of the list it is of, from 0 */
    uint32_t weight;           /* 1 … 1000; 0 on all queues of a pool = strict order */
    uint32_t shards;           /* that it should have; 0 = as many as it has in Redis */
    uint32_t served;           /* shards that follow it */
    uint32_t max_running;      /* jobs at once, on all hosts; 0 = no limit */
    uint64_t max_jobs;         /* in all states; of all its shards together; 0 = no limit */
    uint32_t events_kept;      /* ends that it tells of, in each of its shards; 0 = none */
    uint32_t logs_kept;        /* lines that are kept of each of its jobs; 0 = none */
    struct config_hooks hooks; /* of its jobs whose types have none */
    bool is_followed;          /* it is there because a pattern matches it: config_follow() */
};

/* The queues of a pool with patterns, whose number grows while the configuration is in force.
 * Supervisor and workers share the memory; only the supervisor writes, a queue first and then
 * count. */
struct config_followed {
    _Atomic uint32_t count;
    struct config_queue queues[CONFIG_QUEUES_MAX];
};

/* Workers that take from the same queues. Without `pools` there is one, named "default". */
struct config_pool {
    char name[LATER_QUEUE_MAX + 1];
    struct config_queue *queues;
    uint32_t queue_count;          /* in a worker: when it was started */
    struct config_queue *patterns; /* "tenant-*", and the options of the queues that it matches */
    uint32_t pattern_count;
    struct config_followed *followed; /* where the queues are if there are patterns; else NULL */
    uint32_t entries;                 /* of the list */
    uint32_t workers;                 /* resolved: never 0 */
    uint64_t memory_max;              /* MiB a worker may hold (RLIMIT_AS); 0 = no limit */
    uint32_t files_max; /* descriptors a worker may hold (RLIMIT_NOFILE); 0 = not set */
};

/* One row of `types`; what is not set has the global value already. */
struct config_type {
    char name[130]; /* "video.encode" or "video.*" */
    double timeout;
    uint32_t max_attempts;
    struct later_backoff backoff;
    struct later_ceiling ceiling;
    bool exclusive;       /* jobs of one type exclude each other, on all hosts */
    uint32_t max_running; /* jobs of this entry at once, on all hosts; 0 = no limit */
    double result;        /* seconds that a result is kept; 0 = it is not */
    double keep;          /* seconds that a done job is kept; 0 = it is not */
    struct config_hooks hooks;
};

struct config_limit {
    char type[130], queue[LATER_QUEUE_MAX + 1]; /* one of them is empty */
    char member[33]; /* of the payload: each value counts by itself; "" = none */
    bool by_group;   /* each group counts by itself */
    uint32_t nth;    /* entries before this one with the same type, queue, member and by_group */
    uint32_t max;
    double per;
    bool sliding;
};

/* One entry of `groups`: of all groups of a queue, or of one. */
struct config_group {
    char queue[LATER_QUEUE_MAX + 1];
    char group[65];       /* "" = all that have no entry of their own */
    double weight;        /* 0 = 1 */
    uint32_t max_running; /* its jobs at once, on all hosts; 0 = no limit, or that of all */
};

/* One entry of `cron`. */
struct config_cron {
    char name[LATER_SCHEDULE_NAME_MAX + 1], queue[LATER_QUEUE_MAX + 1], type[129];
    char *at, *zone, *payload; /* NULL: not given */
    char *from, *until;        /* the same */
    double every, timeout;     /* not above 0: not given */
    uint32_t max_attempts;     /* 0: not given */
    /* clang-format off */
    /* @schedule config,limit: {config_field}; /@ {help}; not given: {unsaid} @/ */
    enum later_catch_up catch_up; /* ticks missed while no host was up: the last, none, or all of a day, at most 100; not given: last */
    enum later_overlap overlap; /* if the last job has not ended: allow, skip, replace it if it waits, queue one; not given: allow */
    double spread; /* jobs are spread over this time after their ticks; not given: 0 */
    double late; /* a tick that is later than this is missed; not given: 60 */
    double priority; /* priority of its jobs, higher first; not given: 0 */
    char group[64 + 1]; /* the group of its jobs; not given: none */
    double expires_in; /* a job that has not begun this long after it was due is dropped; not given: never */
    uint32_t limit; /* how many jobs it pushes in all; not given: no limit */
    /* @end */
    /* clang-format on */
    char *definition; /* as Redis keeps it (schedule.h) */
    size_t definition_len;
    const char *file; /* while it is being read: where it stands; round: which file, from 1 */
    unsigned line, round;
};

/* One leaf of plugins.config.NAME: handed to the plugin's config(), with its place for messages.
 * Sorted by plugin, then key. Keys are dotted; an element of a list has its number, from 0. */
struct config_leaf {
    char *plugin, *key, *value;
    char *file;
    unsigned line;
};

struct config {
    struct {
        char *url; /* "embedded", "unix:/path", "redis://…", "sentinel://…": laterd.conf(5) */
        char *password_file; /* or NULL */
        char *prefix;        /* "later" */
    } redis;
    char *state_dir;
    struct config_pool *pools;
    uint32_t pool_count;
    struct later_names served; /* the queues and shards of all pools, each once */
    double lease, timeout, grace, drain;
    uint32_t events;
    struct later_backoff backoff; /* retry.base, .max, .jitter */
    uint32_t max_attempts;        /* retry.max_attempts */
    struct later_ceiling ceiling; /* timeout_max, retry.attempts_max, retry.wait_min */
    uint32_t crash_max;
    double unknown_max; /* seconds; 0 = never */
    struct {
        uint32_t jobs;
        uint64_t memory; /* MiB */
        double age;
    } recycle;
    uint32_t stop_after;       /* jobs; 0 = never */
    struct config_type *types; /* names, then patterns, longest first: the first match is best */
    uint32_t type_count;
    struct {
        uint64_t max;
        double days;
    } dead;
    struct {
        uint32_t max; /* of a queue */
    } keep;
    struct {
        double keep; /* seconds that a flow is kept when it has ended */
    } flows;
    struct config_limit *limits;
    uint32_t limit_count;
    struct config_group *groups;
    uint32_t group_count;
    struct config_cron *crons;
    uint32_t cron_count;
    uint64_t document_max; /* bytes a document may have; 1 MiB */
    struct {
        char *dir;
        char **load; /* names without .so; NULL-terminated; NULL = all in dir */
        struct config_leaf *config;
        uint32_t config_count;
    } plugins;
    struct {
        enum config_log_level level;
        bool json;
        uint32_t rate; /* lines a second of each process; 0 = no limit */
    } log;
    bool history; /* what becomes of attempts is counted */
};

/* Reads `path`, then conf.d/ *.conf beside it in name order. path NULL: CONFIG_FILE if it exists,
 * else the built-in defaults. A later file's option replaces an earlier one's; `types`,
 * `cron` and `plugins.config` add up. Returns a new configuration, or NULL with *err
 * (LATER_E_CONFIG, text "FILE:LINE: what is wrong, and what would be right"). */
struct config *config_load(const char *path, struct later_error *err);

/* The same of no file at all: the built-in defaults. */
struct config *config_defaults(struct later_error *err);

/* The same for those who only ask where Redis is: of all options it reads redis, state_dir and
 * document, so a fault in another one does not keep `later` from looking. alone: without conf.d. */
struct config *config_load_where(const char *path, bool alone, struct later_error *err);

/* The same for `laterd -t`: fault is told of every bad option of the first file that has any, each
 * with its place. If that was all, err's text is "". */
struct config *config_load_telling(const char *path, void (*fault)(const struct later_error *err),
                                   struct later_error *err);

/* Frees it. NULL is fine. */
void config_free(struct config *config);

/* Writes the configuration in force as a file that config_load() reads back. */
void config_print(const struct config *config, FILE *out);

/* Writes only what holds for jobs whichever host performs them: retries, times, types, limits,
 * groups, what is kept. Then a laterd with other queues and plugins treats them alike. */
void config_print_of_jobs(const struct config *config, FILE *out);

/* Writes one entry of `queues`: `{ name = "mail"; max_running = 3; }`. */
void config_print_queue(const struct config_queue *queue, FILE *out);

/* The row of `types` for a job type, or NULL: exact name first, then the longest pattern. */
const struct config_type *config_type_find(const struct config *config, const char *type);

/* What a job is allowed if its document does not say: by the row of its type (NULL: none), else by
 * the global options. */
void config_policy(const struct config *config, const struct config_type *type,
                   struct later_policy *policy);

/* The queue of this name, in the first pool that has it; NULL: in none. */
const struct config_queue *config_serves(const struct config *config, const char *queue);

/* Does it have too many queues for each worker to wait for them, and to look at each? */
bool config_pool_is_large(const struct config_pool *pool);

/* Does any pool have a pattern? */
bool config_follows(const struct config *config);

/* There is a queue of this name. If no pool has it in its list, it is added to the pool of the
 * longest pattern that matches it: after the others, with the pattern's options and place in the
 * order, even while the configuration is in force. *pool: which, if a pattern matches it. used: the
 * queue is known to have something. A mere name, which costs nobody anything, gets only the first
 * half of a pool's places (CONFIG_FOLLOW_LATER), so that no tenant can take all of them from the
 * others. */
enum config_follow {
    CONFIG_FOLLOW_NONE,
    CONFIG_FOLLOW_ADDED,
    CONFIG_FOLLOW_LATER,
    CONFIG_FOLLOW_FULL
};
enum config_follow config_follow(struct config *config, const char *name, bool used,
                                 uint32_t *pool);

/* How many queues of a pool this pattern matches now; shards are not counted. */
uint32_t config_followed_by(const struct config_pool *pool, const struct config_queue *pattern);

/* In a worker: what it shares with the supervisor cannot be written any more. */
void config_seal(const struct config *config);

/* Before the configuration is in force: gives each queue as many shards as are wanted, if it has
 * fewer. Returns 0, or -1 with *err if a pool has no room or a name is too long; the configuration
 * is then good for nothing but config_free(). */
typedef uint32_t config_wanted_fn(void *arg, const struct config_queue *queue);
int config_widen(struct config *config, config_wanted_fn *wanted, void *arg,
                 struct later_error *err);

/* The name of a limit in Redis; one that counts the values of a member, or groups, ends
 * in `MEMBER=` or `group=`. */
#define CONFIG_LIMIT_NAME 200
void config_limit_name(const struct config_limit *limit, char name[CONFIG_LIMIT_NAME]);

/* Does "video.*", or "video.encode", match this type? Returns how well: 0 = not at all, SIZE_MAX =
 * it is the same, else the length of the pattern. */
size_t config_type_matches(const char *pattern, const char *type);

/* Is this a pattern, "tenant-*"? */
bool config_is_pattern(const char *name);

/* Finds an option that cannot change while running (redis, state_dir) and differs between two
 * configurations: its path, or NULL. */
const char *config_fixed_difference(const struct config *a, const struct config *b);

#endif
