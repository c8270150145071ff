/*
 * later/job.h: what a plugin of laterd includes. The manual is later-job(3).
 *
 *     #include <later/job.h>
 *
 *     static enum later_result hello(struct later_job *job)
 *     {
 *         size_t len;
 *         const char *payload = later_job_payload(job, &len);
 *
 *         later_job_log(job, LATER_INFO, "hello %.*s", (int)len, payload);
 *         return LATER_DONE;
 *     }
 *     static const struct later_type types[] = { { .name = "hello", .perform = hello }, { 0 } };
 *     LATER_PLUGIN(.name = "hello", .version = "1.0", .types = types);
 *
 *     cc -shared -fPIC $(pkg-config --cflags later-plugin) hello.c -o hello.so
 *
 * A plugin links against nothing of laterd. When it is loaded it gets a table of functions, `struct
 * later_host`, and the inline functions below call through it. A unit test passes a table of its
 * own. Both structs record their size and only ever grow at the end, so a plugin built with an
 * older header runs on a newer laterd. LATER_HAS() asks whether an older laterd has a function.
 * (The idea is nbdkit's and SQLite's; the text is ours.)
 *
 * Ownership: everything handed out is borrowed. It stays valid until the job has ended: until
 * `perform` returns anything but LATER_DEFERRED, or later_job_finish() is called. Neither side
 * frees the other's memory.
 *
 * Threads: any thread may call later_job_log(), later_log(), later_job_time_left(),
 * later_job_cancelled() and later_job_stopping(); only the thread that called `perform` may call
 * the others.
 *
 * Processes: only workers load plugins (and the child of `laterd -t`), never the supervisor. Signal
 * dispositions, the working directory, the locale and standard output belong to the host. A handler
 * that crashes, exits or hangs costs its worker, never another job.
 *
 * Clean in C99 and C++11 (a C++ plugin lists the members in order).
 */
#ifndef LATER_JOB_H
#define LATER_JOB_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* LATER_TYPES_ONLY: for hosts (laterd itself), which want the structs without the calls. */
#if defined(LATER_CLIENT_H) && !defined(LATER_TYPES_ONLY)
#error "a plugin pushes through its host: include <later/job.h> or <later/client.h>, not both"
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define LATER_API 1 /* changes only if an old plugin could not run any more */

struct later_job;  /* one attempt at one job; opaque */
struct event_base; /* libevent's */

/* How an attempt ended. */
enum later_result {
    LATER_DONE = 0,     /* ack: the job is gone and counted */
    LATER_RETRY = 1,    /* release: again after the backoff, or dead if that was the last attempt */
    LATER_BURY = 2,     /* dead at once: trying again cannot help */
    LATER_DEFERRED = 3, /* event types only: later_job_finish() will say */
    LATER_RETURN = 4    /* given back as if it had not begun: no attempt. It comes again after
                           later_job_retry_in(), or else after the first backoff */
};

/* Why an attempt failed, if not simply because its handler said LATER_RETRY. */
enum later_kind { LATER_KIND_RETRY = 0, LATER_KIND_TIMEOUT = 1, LATER_KIND_CRASH = 2 };

enum later_mode {
    LATER_SERIAL = 0, /* perform blocks; one at a time in a worker */
    LATER_EVENT = 1   /* perform starts something on later_event_base() and returns DEFERRED */
};

enum later_level { LATER_ERROR = 0, LATER_WARN = 1, LATER_INFO = 2, LATER_DEBUG = 3 };

/* What later_push(), later_lock(), later_limit() and later_stock_claim() answer. */
enum {
    LATER_YES = 0,    /* pushed, locked, allowed, claimed */
    LATER_EXISTS = 1, /* pushed before under this id; claimed before by this claimant */
    LATER_NO = 2,     /* locked by another, over the limit, sold out */
    LATER_FAILED = -1 /* Redis refused or is away, the queue to push to is full, or an argument is
                       * bad: the host logs it */
};

/* Flags of a type. */
enum {
    /* perform hands the job to another program, which may begin it later: the plugin says when, by
     * later_job_begun(). Else a job begins when it is performed. */
    LATER_TELLS_BEGIN = 1
};

/* One type of job. A `name` that ends in '*' matches all types that begin with it ("exec.*"), any
 * other name only itself; the longest match wins. The strings must live until `stop` returns. */
struct later_type {
    const char *name;  /* [A-Za-z0-9_.:-]{1,128}, or ending in * */
    uint32_t mode;     /* enum later_mode */
    uint32_t reserved; /* 0 */
    enum later_result (*perform)(struct later_job *job); /* required */
    void (*cancel)(struct later_job *job);               /* event types: stop soon, then finish */
    /* Event types: how many more jobs of this type may begin in this worker now; laterd reserves no
     * more. If `name` ends in a star, `type` is the full name. Asked often. NULL: as many as the
     * option `events`. */
    uint32_t (*room)(const char *type);
    /* May a job of this type begin now? LATER_YES or LATER_NO, as while a program that performs it
     * still starts. Asked before the job's locks, permits and limits are taken, and after LATER_NO
     * again and again, at most 20 ms later. `type` as above. NULL: yes. */
    int (*ready)(const char *type);
    uint64_t flags; /* LATER_TELLS_BEGIN, or 0 */
    /* Event types: laterd stops, or is reloaded: finish soon, with a checkpoint if you can
     * (later_job_stopping()). May be NULL. */
    void (*stopping)(struct later_job *job);
};

/* A plugin. Only name and types are required. Each worker calls, in this order: config* config_done
 * start … stop. The first three return 0, or -1 with a sentence in err (n bytes); laterd reports
 * it, for options with file and line, and does not start. */
struct later_plugin {
    uint32_t api;       /* LATER_API, by the macro */
    uint32_t size;      /* of this struct, by the macro */
    uint32_t type_size; /* of struct later_type, by the macro */
    uint32_t reserved;
    const char *name;    /* [a-z0-9_-]{1,64}: its section of plugins.config and of the log */
    const char *version; /* shown by laterd --describe */
    const struct later_type *types; /* ends with a type without a name */
    /* One call per leaf of plugins.config.NAME: dotted key ("smtp.host", "argv.0"), and the value
     * as text: true/false, a number as written, or the string. An unknown key should be refused. */
    int (*config)(const char *key, const char *value, char *err, size_t n);
    int (*config_done)(char *err, size_t n); /* that was all: is anything missing? */
    int (*start)(char *err, size_t n);       /* connections, threads, files belong here */
    void (*stop)(void);                      /* the worker ends in order; not called on a crash */
    const char *config_help;                 /* shown by laterd --describe */
    /* Called after config_done: further types, which the configuration has named; one of them may
     * take the place of one of `types` that has the same name. A list like `types`, which must live
     * until `stop` returns. NULL: none. */
    const struct later_type *(*more_types)(void);
};

/* A job to push: zero it, set size and type, then what else you need. All strings are borrowed for
 * the call. */
struct later_push_job {
    uint32_t size;         /* sizeof (struct later_push_job) */
    int32_t priority;      /* -100 … 100 */
    const char *queue;     /* NULL: the queue of the job that pushes */
    const char *type;      /* required */
    const char *payload;   /* JSON; NULL: null */
    size_t payload_len;    /* 0: strlen(payload) */
    const char *id;        /* NULL: a new one */
    double delay;          /* seconds from now, 0 … 315,360,000 (ten years) */
    uint32_t max_attempts; /* 0: the worker's default */
    uint32_t reserved;
    double timeout; /* seconds; 0: the worker's default */
    double result;  /* seconds, up to 86,400, that its result is kept; 0: as its type says */
    /* Jobs that wait for jobs; NULL: not said. While a job of a flow runs, it may add to that flow,
     * in its own queue, even if the flow is closed. */
    const char *flow;  /* the flow that it belongs to */
    const char *step;  /* its name in the flow; its id is FLOW.STEP if it has none */
    const char *after; /* steps that it waits for, with commas between; "*": all without "*" */
    const char *when;  /* done, as if NULL; ended; failed */
};

/* The host's functions; call them through the inline functions below. New ones only at the end. */
struct later_host {
    uint32_t api;
    uint32_t size;
    const char *(*job_string)(const struct later_job *job, uint32_t which);
    const char *(*job_bytes)(const struct later_job *job, uint32_t which, size_t *len);
    uint32_t (*job_number)(const struct later_job *job, uint32_t which);
    double (*job_time_left)(const struct later_job *job);
    int (*job_cancelled)(const struct later_job *job);
    void (*job_logv)(const struct later_job *job, uint32_t level, const char *format, va_list args);
    void (*job_errorv)(struct later_job *job, const char *format, va_list args);
    void (*job_retry_in)(struct later_job *job, double seconds);
    void (*job_set_data)(struct later_job *job, void *data);
    void *(*job_data)(const struct later_job *job);
    int (*job_finish)(struct later_job *job, uint32_t result);
    void (*logv)(const char *plugin, uint32_t level, const char *format, va_list args);
    struct event_base *(*event_base)(void);
    int (*push)(struct later_job *job, const struct later_push_job *push);
    int (*stock_claim)(struct later_job *job, const char *item, const char *who, uint64_t *number);
    int (*lock)(struct later_job *job, const char *name, double ttl, double wait);
    int (*unlock)(struct later_job *job, const char *name);
    int (*limit)(struct later_job *job, const char *key, uint32_t max, double per,
                 uint32_t sliding);
    int (*lock_fence)(struct later_job *job, const char *name, uint64_t *fence);
    void (*job_kind)(struct later_job *job, uint32_t kind);
    int (*job_value)(struct later_job *job, const char *json, size_t len);
    int (*job_progress)(struct later_job *job, double done, double total, const char *text);
    int (*job_counted)(const struct later_job *job);
    int (*job_begun)(struct later_job *job);
    int (*type_says)(const char *type, const char *json, size_t len);
    const char *(*job_given)(struct later_job *job, uint32_t which, const char *step, size_t *len);
    int (*job_checkpoint)(struct later_job *job, const char *json, size_t len);
    int (*job_stopping)(const struct later_job *job);
    int (*job_wanted)(const struct later_job *job);
};

enum { LATER_JOB_ID, LATER_JOB_TYPE, LATER_JOB_QUEUE, LATER_JOB_TOKEN, LATER_JOB_TRACE };
enum { LATER_JOB_PAYLOAD, LATER_JOB_DOCUMENT };
enum { LATER_JOB_ATTEMPT, LATER_JOB_MAX_ATTEMPTS };
enum { LATER_GIVEN_VALUE, LATER_GIVEN_VALUES, LATER_GIVEN_FLOW, LATER_GIVEN_CHECKPOINT };

#if defined(__GNUC__)
#define LATER_HIDDEN       __attribute__((visibility("hidden")))
#define LATER_EXPORT       __attribute__((visibility("default")))
#define LATER_PRINTF(a, b) __attribute__((format(printf, a, b)))
#else
#define LATER_HIDDEN
#define LATER_EXPORT
#define LATER_PRINTF(a, b)
#endif

/* The only symbol that laterd looks for in a plugin; LATER_PLUGIN() defines it. The declaration
 * gives it C linkage in a C++ plugin. */
LATER_EXPORT const struct later_plugin *later_plugin_open(const struct later_host *host);

#ifndef LATER_TYPES_ONLY

/* Set by laterd (or by a test) through later_plugin_open() before anything of the plugin runs. */
extern LATER_HIDDEN const struct later_host *later_host;

/* Does this laterd have this function of struct later_host? `if (LATER_HAS(limit)) …`, for plugins
 * that should also run on a laterd older than their header. */
#define LATER_HAS(fn)                                                                              \
    (later_host->size >= offsetof(struct later_host, fn) + sizeof later_host->fn && later_host->fn)

/* Defines the plugin. Use it once, at file scope, with designated initialisers. */
#define LATER_PLUGIN(...)                                                                          \
    LATER_HIDDEN const struct later_host *later_host;                                              \
    const struct later_plugin *later_plugin_open(const struct later_host *later_given)             \
    {                                                                                              \
        static const struct later_plugin later_this = { .api = LATER_API,                          \
                                                        .size = sizeof(struct later_plugin),       \
                                                        .type_size = sizeof(struct later_type),    \
                                                        .reserved = 0,                             \
                                                        __VA_ARGS__ };                             \
        later_host = later_given;                                                                  \
        return &later_this;                                                                        \
    }                                                                                              \
    struct later_plugin

/* The job's id, type and queue; the token of this reservation; its trace, or NULL. */
static inline const char *later_job_id(const struct later_job *job)
{
    return later_host->job_string(job, LATER_JOB_ID);
}
static inline const char *later_job_type(const struct later_job *job)
{
    return later_host->job_string(job, LATER_JOB_TYPE);
}
static inline const char *later_job_queue(const struct later_job *job)
{
    return later_host->job_string(job, LATER_JOB_QUEUE);
}
static inline const char *later_job_token(const struct later_job *job)
{
    return later_host->job_string(job, LATER_JOB_TOKEN);
}
static inline const char *later_job_trace(const struct later_job *job)
{
    return later_host->job_string(job, LATER_JOB_TRACE);
}
/* The payload: exactly the bytes that were pushed, len of them. There may be no NUL after them. */
static inline const char *later_job_payload(const struct later_job *job, size_t *len)
{
    return later_host->job_bytes(job, LATER_JOB_PAYLOAD, len);
}
/* The whole document: exactly the bytes that were pushed. */
static inline const char *later_job_document(const struct later_job *job, size_t *len)
{
    return later_host->job_bytes(job, LATER_JOB_DOCUMENT, len);
}
/* Which attempt this is, from 1; and how many there may be. */
static inline uint32_t later_job_attempt(const struct later_job *job)
{
    return later_host->job_number(job, LATER_JOB_ATTEMPT);
}
static inline uint32_t later_job_max_attempts(const struct later_job *job)
{
    return later_host->job_number(job, LATER_JOB_MAX_ATTEMPTS);
}
/* Seconds until the attempt's timeout, by a monotonic clock; 0 when it is over. Any thread. */
static inline double later_job_time_left(const struct later_job *job)
{
    return later_host->job_time_left(job);
}
/* 1 if the job was cancelled, its lease was lost or its time is over: the result will not count.
 * Also if it has lost a lock or a permit, since another job may now be doing what must not be done
 * twice at once; laterd then ends it as if its time were over. Any thread. */
static inline int later_job_cancelled(const struct later_job *job)
{
    return later_host->job_cancelled(job);
}
/* Writes a line to laterd's log, with the job's id, queue, type, attempt and trace. Any thread. */
static inline void later_job_log(const struct later_job *job, enum later_level level,
                                 const char *format, ...) LATER_PRINTF(3, 4);
static inline void later_job_log(const struct later_job *job, enum later_level level,
                                 const char *format, ...)
{
    va_list args;

    va_start(args, format);
    later_host->job_logv(job, (uint32_t)level, format, args);
    va_end(args);
}
/* What went wrong, for LATER_RETRY, LATER_BURY and LATER_RETURN: kept with the job (at most 1,000
 * bytes) and shown by `later show`. The last call counts. */
static inline void later_job_error(struct later_job *job, const char *format, ...)
    LATER_PRINTF(2, 3);
static inline void later_job_error(struct later_job *job, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    later_host->job_errorv(job, format, args);
    va_end(args);
}
/* Says that the error was a timeout or a crash of a program or service behind the handler, for
 * `later show`, the history and the pages. Nothing else depends on it. */
static inline void later_job_kind(struct later_job *job, enum later_kind kind)
{
    if (LATER_HAS(job_kind))
        later_host->job_kind(job, (uint32_t)kind);
}
/* Sets the job's result, for those who wait for it, if it ends as LATER_DONE: one JSON value of len
 * bytes (0: strlen(json)), at most 65,536, copied. The last call counts; without one it is null.
 * Returns LATER_YES; LATER_NO if nobody wants the job's result; LATER_FAILED if it is not JSON or
 * too long, which is logged and changes nothing, or if this laterd has no such function. Does not
 * block. */
static inline int later_job_value(struct later_job *job, const char *json, size_t len)
{
    return LATER_HAS(job_value) ? later_host->job_value(job, json, len) : (int)LATER_FAILED;
}
/* Does anybody want the job's value? LATER_YES, or LATER_NO: there is no need to make one. YES if
 * this laterd has no such function. Never blocks. */
static inline int later_job_wanted(const struct later_job *job)
{
    return LATER_HAS(job_wanted) ? later_host->job_wanted(job) : (int)LATER_YES;
}
/* The value that a step of the job's flow gave back (later_job_value()), which this job has waited
 * for: *len bytes of JSON. NULL if it gave none, if this job did not wait for it, if it did not fit
 * (the values for one job have at most 1 MiB together, which is logged), or if this laterd has no
 * such function. The same in each attempt. Never blocks. */
static inline const char *later_job_value_of(struct later_job *job, const char *step, size_t *len)
{
    return LATER_HAS(job_given) ? later_host->job_given(job, LATER_GIVEN_VALUE, step, len) : NULL;
}
/* All these values: *len bytes of a JSON object, by step, without line ends; null for a step that
 * gave none. NULL for a job that has waited for no steps. */
static inline const char *later_job_values(struct later_job *job, size_t *len)
{
    return LATER_HAS(job_given) ? later_host->job_given(job, LATER_GIVEN_VALUES, NULL, len) : NULL;
}
/* For a job that has waited for all others of its flow ("*"): *len bytes of a JSON object, with the
 * flow's name, how many jobs there are in each state, and the ids of those that failed, as many as
 * fit: {"name":"night","total":9,"open":0,"waiting":0,"done":8,"dead":1,"gone":0,"skipped":0,
 * "failed":["night.a"]}. NULL for any other job. */
static inline const char *later_job_flow(struct later_job *job, size_t *len)
{
    return LATER_HAS(job_given) ? later_host->job_given(job, LATER_GIVEN_FLOW, NULL, len) : NULL;
}
/* Reports how far the job has come: `done` of `total` (0: not known), in any unit, and a few words
 * (at most 200 bytes are kept; NULL: none). `later show` and `later status` show it. It is written
 * to Redis at most once a second, and kept with the job over its attempts. Cheap, never blocks:
 * call it as often as you like. Returns LATER_YES; or LATER_FAILED if a number is negative or not a
 * number, if the job's time was over, or if this laterd has no such function. */
static inline int later_job_progress(struct later_job *job, double done, double total,
                                     const char *text)
{
    return LATER_HAS(job_progress) ? later_host->job_progress(job, done, total, text)
                                   : (int)LATER_FAILED;
}
/* Leaves a checkpoint: one JSON value of len bytes (0: strlen(json)), at most 65,536, copied, which
 * the job's next attempt gets, whatever ends this one: an error, a crash, a stop of laterd. The
 * last one counts; it goes with the job when that is done. It is written to Redis at most once a
 * second and when the attempt ends, so only the death of the whole host can lose the last second's.
 * Costs a small file each time. Returns LATER_YES; LATER_FAILED if it is not JSON or too long,
 * which is logged, if the job's time was over, or if this laterd has no such function. */
static inline int later_job_checkpoint(struct later_job *job, const char *json, size_t len)
{
    return LATER_HAS(job_checkpoint) ? later_host->job_checkpoint(job, json, len)
                                     : (int)LATER_FAILED;
}
/* The checkpoint with which this attempt began: *len bytes of JSON without line ends, as an earlier
 * attempt has left them; NULL: begin at the beginning. Never blocks. */
static inline const char *later_job_resumes(struct later_job *job, size_t *len)
{
    return LATER_HAS(job_checkpoint) ? later_host->job_given(job, LATER_GIVEN_CHECKPOINT, NULL, len)
                                     : NULL;
}
/* 1 if laterd stops or is reloaded: the job has as long as the option `drain`, and is interrupted
 * then. One that leaves a checkpoint and ends as LATER_RETURN, after later_job_retry_in(job, 0),
 * goes on elsewhere at once, and has used up no attempt. Any thread. */
static inline int later_job_stopping(const struct later_job *job)
{
    return LATER_HAS(job_stopping) ? later_host->job_stopping(job) : 0;
}
/* For types with LATER_TELLS_BEGIN. Does a limit wait to be told when the job begins? LATER_YES or
 * LATER_NO. */
static inline int later_job_counted(const struct later_job *job)
{
    return LATER_HAS(job_counted) ? later_host->job_counted(job) : (int)LATER_NO;
}
/* The job has begun, and its limits (`limits` in laterd.conf) count it from now on. Until then they
 * keep its place, at most 5 seconds; the end of a job tells it, too, but for LATER_RETURN. A job
 * that is returned without it was never counted. Only from the worker's event loop or in perform.
 * Does not block. Returns LATER_YES; LATER_NO if the job's time was over; LATER_FAILED if this
 * laterd has no such function. */
static inline int later_job_begun(struct later_job *job)
{
    return LATER_HAS(job_begun) ? later_host->job_begun(job) : (int)LATER_FAILED;
}
/* What a program says of a type that it performs, or of a beginning and a star: a JSON object of
 * `len` bytes, at most 4,096, whose members max_attempts and backoff are as in a job's document.
 * It counts in this worker from now on, where neither the document nor laterd.conf says otherwise.
 * Returns LATER_YES; LATER_FAILED if it is not valid, which the host logs, or if this laterd has no
 * such function. */
static inline int later_type_says(const char *type, const char *json, size_t len)
{
    return LATER_HAS(type_says) ? later_host->type_says(type, json, len) : (int)LATER_FAILED;
}
/* When to try again, in seconds (0 … 315,360,000), instead of the backoff. For LATER_RETRY and
 * LATER_RETURN. */
static inline void later_job_retry_in(struct later_job *job, double seconds)
{
    later_host->job_retry_in(job, seconds);
}
/* A pointer for the plugin's own use, kept with the job while it runs; NULL at the beginning. */
static inline void later_job_set_data(struct later_job *job, void *data)
{
    later_host->job_set_data(job, data);
}
static inline void *later_job_data(const struct later_job *job)
{
    return later_host->job_data(job);
}
/* Ends a deferred job; call it only from the worker's event loop. Returns 0; or -1 if the job had
 * already ended, which is logged with the plugin's name. Do not touch the job afterwards. */
static inline int later_job_finish(struct later_job *job, enum later_result result)
{
    return later_host->job_finish(job, (uint32_t)result);
}
/* Writes a line to laterd's log, outside of a job. `plugin` is the plugin's name. Any thread. */
static inline void later_log(const char *plugin, enum later_level level, const char *format, ...)
    LATER_PRINTF(3, 4);
static inline void later_log(const char *plugin, enum later_level level, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    later_host->logv(plugin, (uint32_t)level, format, args);
    va_end(args);
}
/* The worker's libevent loop, for event types: borrowed, valid from `start` to `stop`. */
static inline struct event_base *later_event_base(void)
{
    return later_host->event_base();
}
/* Pushes another job: LATER_YES, LATER_EXISTS or LATER_FAILED. Blocks for one round trip, at most
 * 2 seconds. */
static inline int later_push(struct later_job *job, const struct later_push_job *push)
{
    return later_host->push(job, push);
}
/* Claims one of a limited stock (`later stock set ITEM N`) for `who`. Returns LATER_YES;
 * LATER_EXISTS if `who` has a claim already; LATER_NO if it is sold out; LATER_FAILED. item and who
 * are each 1 to 200 printable ASCII characters, no space, no brace. *number (may be NULL) gets the
 * number of the claim, from 1; LATER_NO and LATER_FAILED leave it alone. Blocks for one round trip,
 * at most 2 seconds. */
static inline int later_stock_claim(struct later_job *job, const char *item, const char *who,
                                    uint64_t *number)
{
    return later_host->stock_claim(job, item, who, number);
}
/* The next four return LATER_FAILED on a laterd that does not have them. */

/* Takes the lock `name` (1 to 200 printable ASCII characters, no space, no brace) for ttl seconds
 * (from 0.01), waiting for it at most `wait` seconds. Returns LATER_YES, also if this job has it
 * already; LATER_NO if another holds it; LATER_FAILED. laterd renews it every third of ttl while
 * the job runs, and frees it when the job ends, however it ends. Blocks for at most wait + 2
 * seconds, so an event handler should not wait. */
static inline int later_lock(struct later_job *job, const char *name, double ttl, double wait)
{
    return LATER_HAS(lock) ? later_host->lock(job, name, ttl, wait) : (int)LATER_FAILED;
}
/* Gives a lock of this job back before the job ends. Returns LATER_YES; LATER_NO if this job no
 * longer held it; LATER_FAILED. Blocks for one round trip, at most 2 seconds. */
static inline int later_unlock(struct later_job *job, const char *name)
{
    return LATER_HAS(unlock) ? later_host->unlock(job, name) : (int)LATER_FAILED;
}
/* The fencing number of a lock that this job holds, by later_lock() or by its document. It grows
 * each time the lock is taken. If whatever the lock guards refuses numbers below the highest that
 * it has seen, a handler that was stopped for longer than ttl does no harm. Returns LATER_YES;
 * LATER_NO if the job does not hold the lock; LATER_FAILED. Does not block. */
static inline int later_lock_fence(struct later_job *job, const char *name, uint64_t *fence)
{
    return LATER_HAS(lock_fence) ? later_host->lock_fence(job, name, fence) : (int)LATER_FAILED;
}
/* May this happen now? At most max times in `per` seconds under this key, in fixed windows or, with
 * sliding, in any span of that length. Returns LATER_YES, and has counted it; LATER_NO;
 * LATER_FAILED. Blocks for one round trip, at most 2 seconds. */
static inline int later_limit(struct later_job *job, const char *key, uint32_t max, double per,
                              uint32_t sliding)
{
    return LATER_HAS(limit) ? later_host->limit(job, key, max, per, sliding) : (int)LATER_FAILED;
}

#endif /* LATER_TYPES_ONLY */

#ifdef __cplusplus
}
#endif
#endif
