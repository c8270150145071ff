/*
 * later/client.h: pushing jobs from a C program, waiting for their ends, setting schedules.
 *
 *     struct later_error err;
 *     struct later_client *client = later_client_open(NULL, &err);
 *     struct later_new_job job = { .type = "mail.send", .payload = "{\"to\":\"a@b.c\"}" };
 *     char id[LATER_ID_SIZE];
 *
 *     if (!client || later_push(client, "default", &job, id, NULL, &err) < 0)
 *         errx(err.code, "%s", err.text);
 *     later_client_close(client);
 *
 *     cc mailer.c $(pkg-config --cflags --libs later)
 *
 * A client is one connection, or on a Cluster one to each node that it needs. It connects when it
 * is first used, and again if the connection broke. A call blocks for at most the timeout, or twice
 * that if an answer was lost and is asked for again. The client raises no SIGPIPE, starts no
 * thread, prints nothing, and may be used by one thread at a time.
 */
#ifndef LATER_CLIENT_H
#define LATER_CLIENT_H

#include <later/error.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LATER_ID_SIZE 201 /* the longest id and its NUL */

struct later_client;

/* Where to connect, and how. Zeroed: like later_client_open() with NULL. All of it is copied. */
struct later_client_options {
    const char *url; /* "unix:/path", "redis://…", "rediss://…" and others, as later(1); NULL: from
                      * $LATER_REDIS_URL, else the embedded server of a local laterd */
    const char *password_file; /* its first line is the password, read at each connection; NULL:
                                * none */
    const char *prefix;        /* of all keys; NULL: "later" */
    const char *name;          /* shown by CLIENT LIST; NULL: "later" */
    double timeout;            /* seconds a call may take, and it waits for a connection while the
                                * line of those is full; 0: 2 */
    double patience;           /* further seconds to wait for the first connection while Redis is
                                * starting: nobody listens, or it is LOADING; 0: none */
    size_t document_max;       /* bytes that a job's document may have; 0: 1 MiB */
};

/* Returns a client for this Redis, which does not connect yet; or NULL with *err if the url or an
 * option is bad (LATER_E_USAGE). The first form takes defaults for everything but the url. */
struct later_client *later_client_open(const char *url, struct later_error *err);
struct later_client *later_client_open_with(const struct later_client_options *options,
                                            struct later_error *err);

/* Closes and frees it. NULL is fine. */
void later_client_close(struct later_client *client);

/* A job to push: zero it, then set what you need. Everything is borrowed for the call. Of the
 * options, NULL and 0 mean that they are not set. Durations are seconds, which may have a fraction,
 * times UNIX seconds, backoff is JSON as in the document. unique_for, again, debounce and throttle
 * need an id of your own. `later push` has the same options, and later(1) says more about each. */
struct later_new_job {
    const char *type;     /* required unless `document` is given */
    const char *payload;  /* JSON; NULL: null */
    size_t payload_len;   /* 0: strlen(payload) */
    int text;             /* payload is plain text, UTF-8, and becomes a JSON string */
    const char *document; /* a whole document; of the options only those that say how to push are
                           * then used: in, at, expires_in and from adder on */
    size_t document_len;  /* 0: strlen(document) */

    /* @options option: /@ {help} @/\n{job}; */
    /* the same id is the same job */
    const char *id;
    /* -100 to 100, higher first */
    int32_t priority;
    /* how long until it may run */
    double in;
    /* not before this time */
    double at;
    /* failed attempts after which it is buried */
    uint32_t max_attempts;
    /* how long after its first failure it is tried again; what fails later is buried */
    double retry_for;
    /* how long one attempt may run */
    double timeout;
    /* wait before each next attempt, or a list of waits */
    const char *backoff;
    /* if it has not begun by then, it is dropped */
    double expires_at;
    /* if it has not begun this long from now, it is dropped */
    double expires_in;
    /* how long its result is kept */
    double result;
    /* it runs only while it holds this lock */
    const char *lock;
    /* whose job it is: groups share a queue fairly */
    const char *group;
    /* logged with each line of the job */
    const char *trace;
    /* what it is, for people who look at it */
    const char *description;
    /* push a job of this type when it is dead */
    const char *on_dead;
    /* push a job of this type when it is done */
    const char *on_done;
    /* the flow that it belongs to */
    const char *flow;
    /* its name in the flow */
    const char *step;
    /* steps of the flow that it waits for; *: all jobs without * */
    const char *after;
    /* how they must end: all done, all ended, or one failed */
    const char *when;
    /* the running job of the flow that adds this one to it */
    const char *adder;
    /* the queue that its flow lies in, if that is another one */
    const char *home;
    /* among the jobs of a whole flow: the queue that it goes into */
    const char *queue;
    /* the id stays taken this long after the job has ended */
    double unique_for;
    /* replace a job of this id that waits */
    int replace;
    /* replace a job of this id that waits; if it runs, run this after it */
    int again;
    /* begin after this long without another push of the id */
    double debounce;
    /* with debounce: but at the latest this long after the first push */
    double max_wait;
    /* the id stays taken this long from now, at least until the job ends */
    double throttle;
    /* @end */
};

/* LATER_IS_AGAIN: a job of this id is running, and this one is pushed when that one has ended. */
enum later_push_result {
    LATER_IS_PUSHED = 0,
    LATER_IS_KNOWN = 1,
    LATER_IS_REPLACED = 2,
    LATER_IS_AGAIN = 3
};

/* Pushes one job. id (LATER_ID_SIZE bytes; may be NULL) gets its id, *result (may be NULL) how it
 * went; a known id is not a failure. If a reply is lost the client asks again, and never pushes
 * twice. Returns 0; or -1 with *err: LATER_E_DATA (nothing was pushed); LATER_E_REDIS (nothing was
 * pushed, unless the text says that it is not known; pushing again with the same id is safe);
 * LATER_E_LATER (the queue is full, by laterd's option queues.max_jobs; nothing was pushed). */
int later_push(struct later_client *client, const char *queue, const struct later_new_job *job,
               char *id, enum later_push_result *result, struct later_error *err);

/* Pushes many jobs in calls of up to 500, several of them at once. results (may be NULL) has room
 * for count. Each job is checked when its turn comes. A bad one (LATER_E_DATA, which names it) ends
 * the push: the jobs before it are pushed, those after it are not, and their results are left
 * alone; so are those of jobs for which the queue was full (LATER_E_LATER). Returns 0; or -1 with
 * *err, and some jobs may have been pushed: with ids of your own, pushing all again is safe. */
int later_push_many(struct later_client *client, const char *queue,
                    const struct later_new_job *jobs, size_t count, enum later_push_result *results,
                    struct later_error *err);

/* Pushes a whole flow: jobs that wait for each other, by their members step, after and when. Their
 * `flow` may be left out. A job without id and step has the id FLOW:N, N being its place from 1.
 * The flow lies in `queue`. So do its jobs, unless they name another one by their `queue`: at most
 * 64 different ones, each of which needs a laterd that serves it.
 * What waits for what is checked first, and then nothing was pushed (LATER_E_DATA): a circle, a
 * step that nobody has, two of a name. open: more is added later; else the flow is closed. To push
 * the same again is safe, and adds what was missing after a failure: LATER_IS_KNOWN says that a job
 * is there, or has ended. later_push() and later_push_many() add jobs that name a flow to it, one
 * by one, and leave it open; a count of 0 closes it. For them the flow lies in the queue of the
 * job, or in `home`. `after` is a list with commas between, or "*"; `adder` the id of the running
 * job of the flow that adds to it, as it may when the flow is closed.
 * Returns 0, or -1 with *err as later_push_many(); LATER_E_DATA, too: the flow is closed. */
int later_push_flow(struct later_client *client, const char *queue, const char *flow, int open,
                    const struct later_new_job *jobs, size_t count, enum later_push_result *results,
                    struct later_error *err);

/* How a job has ended, or that it has not. */
enum later_waited {
    LATER_JOB_IS_DONE = 0, /* value: what its handler gave back */
    LATER_JOB_IS_DEAD = 1, /* value: why, a JSON object with kind and text */
    LATER_JOB_IS_GONE = 2, /* there is no such job and no result: it was cancelled, dropped or
                            * expired, was not to leave a result, or was never pushed; or the
                            * result's time is over */
    LATER_JOB_GOES_ON = 3  /* the time is up */
};

struct later_end {
    enum later_waited how;
    uint32_t attempt; /* of a done or dead job: its last attempt */
    double at;        /* of a done or dead job with a result: when it ended, UNIX time; else 0 */
    char *value;      /* JSON, NUL-terminated beyond value_len; NULL: none. later_end_free() */
    size_t value_len;
};

/* Waits until a job has ended, at most `wait` seconds (0: looks once; INFINITY: as long as it
 * takes). Many clients may wait for one job. If the job runs and another of its id is kept beside
 * it (LATER_IS_AGAIN), that one is waited for. If the job was pushed without `result`, and its type
 * has none, you only learn that it is dead or gone. That a job is gone, or was cancelled, is
 * noticed within 5 seconds. A Redis that is away, even at first, is waited for too, at most 30
 * seconds without a break: asked twice a second. Not for handlers: a worker that waits for a job
 * may be the one that should run it. Returns 0; or -1 with *err: LATER_E_REDIS (it was away for too
 * long, or when the time was up: nobody knows how the job is), LATER_E_TOKEN if it refuses us, or
 * LATER_E_USAGE for a bad queue or id. */
int later_wait(struct later_client *client, const char *queue, const char *id, double wait,
               struct later_end *end, struct later_error *err);

/* Frees its value. */
void later_end_free(struct later_end *end);

/* A schedule: whenever it is due, such a job is pushed, once, however many laterds serve the queue.
 * Zero it, then set what you need. Everything is borrowed for the call. */
struct later_new_schedule {
    const char *name; /* 1 to 64 of A-Z a-z 0-9 _ . -; required */
    const char *at;   /* "0 3 * * mon-fri", "@every 90s", as `later cron`; required */
    const char *zone; /* "Europe/Berlin"; NULL: UTC, unless `at` names one */
    struct later_new_job
        job;              /* without document, id and flow, and without what says when it may run
                           * or how it comes into the queue, but for priority and expires_in,
                           * which is of whole seconds from the time at which it was due */
    const char *catch_up; /* of the times missed while no laterd was up: "last", "none", "all";
                           * NULL: the last */
    const char *overlap;  /* if the last job has not ended: "allow" another, "skip", "replace",
                           * "queue"; NULL: another */
    int32_t spread;       /* jobs are spread over so many seconds */
    int32_t late;         /* what is more seconds late is missed; 0: 60; -1: none */
    double from, until;   /* never before or after, UNIX time; 0: no bound */
    uint32_t limit;       /* how many jobs in all; 0: no end */
};

/* Makes a schedule, or changes it; a paused one stays paused. *changed (may be NULL) tells whether
 * that changed anything: what is so already stays so, and a deploy may say its schedules each time.
 * Returns 0; or -1 with *err: LATER_E_DATA or LATER_E_USAGE (the text names what is wrong),
 * LATER_E_REDIS. */
int later_cron_set(struct later_client *client, const char *queue,
                   const struct later_new_schedule *schedule, int *changed,
                   struct later_error *err);

/* Takes a schedule away. *had (may be NULL): was there one? One of a configuration comes back.
 * Returns 0, or -1 with *err as later_cron_set(). */
int later_cron_delete(struct later_client *client, const char *queue, const char *name, int *had,
                      struct later_error *err);

struct later_known_schedule {
    char name[65], at[257], zone[65];
    double next;      /* UNIX time; 0: never, or it is paused */
    int paused;       /* 1 or 0 */
    char origin[320]; /* "set", or "config:HOST:ID": of the configuration of that laterd */
};

struct later_schedules {
    struct later_known_schedule *schedules;
    size_t count;
};

/* Fills *list with the schedules of a queue, the one that is due next first; it is for
 * later_schedules_free(). Returns 0, or -1 with *err, and an empty list. */
int later_cron_list(struct later_client *client, const char *queue, struct later_schedules *list,
                    struct later_error *err);
void later_schedules_free(struct later_schedules *list);

#ifdef __cplusplus
}
#endif
#endif
