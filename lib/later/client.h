/*
 * later/client.h: pushing jobs from a C program, and calling the other scripts.
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
 * A client is one connection, or on a Cluster one to each node that it needs. It blocks, at most
 * its timeout a call, or twice that where an answer was lost and is asked for again; it connects
 * when it is first used, and again after it broke. It writes without raising SIGPIPE, starts no
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

/* Where to, and how. Zeroed means: as later_client_open() with NULL. All copied. */
struct later_client_options {
    const char *url; /* "unix:/path", "redis://…", "sentinel://…", "cluster://…", as later(1);
                      * NULL: from $LATER_REDIS_URL, else the embedded server of a local laterd */
    const char *password_file; /* its first line is the password; NULL: none */
    const char *prefix;        /* of all keys; NULL: "later" */
    const char *name;          /* shown by CLIENT LIST; NULL: "later" */
    double timeout;            /* seconds a call may take; 0: 2 */
    double patience;           /* seconds to wait, beyond that, for the first connection to a Redis
                                * that just starts: nobody listens, or it is LOADING; 0: none */
    size_t document_max;       /* bytes that a job's document may have; 0: 1 MiB */
};

/* A client for this Redis. It does not connect yet. Returns NULL with *err if the url or an option
 * is bad (LATER_E_USAGE). The first form takes all defaults but the url. */
struct later_client *later_client_open(const char *url, struct later_error *err);
struct later_client *later_client_open_with(const struct later_client_options *options,
                                            struct later_error *err);

/* Closes and frees it. NULL is fine. */
void later_client_close(struct later_client *client);

/* A job to push: zero it, then set what is needed. Everything is borrowed for the call. */
struct later_new_job {
    const char *type;      /* required unless `document` is given */
    const char *payload;   /* JSON; NULL: null */
    size_t payload_len;    /* 0: strlen(payload) */
    const char *id;        /* the same id is the same job; NULL: a new one */
    int32_t priority;      /* -100 … 100, higher first */
    uint32_t max_attempts; /* 0: the worker's default */
    double in;             /* seconds from now; 0: now */
    double at;             /* UNIX time; 0: now. Not both */
    double timeout;        /* seconds one attempt may run; 0: the worker's default */
    double expires_at;     /* UNIX time; 0: never */
    const char *backoff;   /* JSON, as in the job document; NULL: the worker's default */
    const char *trace;     /* NULL: none */
    int replace;           /* a known id that is ready or delayed is replaced */
    const char *document;  /* a whole document instead of the members above but in, at, replace;
                            * unique_for and those behind it go with it, too */
    size_t document_len;   /* 0: strlen(document) */
    double unique_for;     /* seconds, up to 10^9, that the id stays taken after the job is done or
                            * has expired: pushed again, it is LATER_IS_KNOWN. 0: not at all */
    double result;         /* seconds, up to 86,400, that its result is kept, for later_wait(); 0:
                            * as its type says, mostly not at all */
    /* The next four go with an id of one's own. */
    double debounce;  /* seconds: as `in`, and a job of this id that waits is replaced and put off
                       * anew; one that runs is LATER_IS_AGAIN. 0: not at all */
    double max_wait;  /* with debounce: but it runs at most so many seconds after the first of the
                       * pushes that replaced each other. 0: no matter */
    double throttle;  /* seconds, up to 10^9, from now, that the id stays taken: at most one in that
                       * time. 0: not at all. Not with unique_for */
    int again;        /* as replace; and of a job that runs this one, or the last of several, is
                       * pushed when that has ended */
    int text;         /* payload is plain text, UTF-8, and becomes a JSON string */
    const char *lock; /* the job runs only while it holds this lock; NULL: none */
};

/* LATER_IS_AGAIN: its job runs, and this one is pushed when that has ended. */
enum later_push_result {
    LATER_IS_PUSHED = 0,
    LATER_IS_KNOWN = 1,
    LATER_IS_REPLACED = 2,
    LATER_IS_AGAIN = 3
};

/* Pushes one job. id (LATER_ID_SIZE bytes; may be NULL) gets its id, *result (may be NULL) how it
 * went; a known id is no failure. A lost reply is settled by asking again: never pushed twice.
 * Returns 0; or -1 with *err: LATER_E_DATA (nothing was pushed), LATER_E_REDIS (nothing was
 * pushed, or, where the text says so, nobody knows; pushing again with the same id is safe),
 * LATER_E_LATER (the queue is full, by laterd's option queues.max_jobs; nothing was pushed). */
int later_push(struct later_client *client, const char *queue, const struct later_new_job *job,
               char *id, enum later_push_result *result, struct later_error *err);

/* Pushes many in calls of up to 500, several of them under way at once. results (may be NULL) has
 * room for count. Each job is checked as its turn comes; one that is refused (LATER_E_DATA, which
 * names it) ends it: those before it are pushed, those behind it are not, and their results are
 * untouched. So are those of jobs for which the queue was full (LATER_E_LATER). Returns 0; or -1
 * with *err, when some may have been pushed: with ids of your own, pushing all again is safe. */
int later_push_many(struct later_client *client, const char *queue,
                    const struct later_new_job *jobs, size_t count, enum later_push_result *results,
                    struct later_error *err);

/* How a job has ended, or that it has not. */
enum later_waited {
    LATER_JOB_IS_DONE = 0, /* value: what its handler gave back */
    LATER_JOB_IS_DEAD = 1, /* value: why, a JSON object with kind and text */
    LATER_JOB_IS_GONE = 2, /* there is no such job and no result: it was cancelled, dropped or
                            * expired; nobody had asked for its result; that was kept no longer;
                            * or it was never pushed */
    LATER_JOB_GOES_ON = 3  /* the time is up */
};

struct later_end {
    enum later_waited how;
    uint32_t attempt; /* of one that is done or dead: the last one */
    double at;        /* likewise, where it has left a result: when it ended, UNIX time; else 0 */
    char *value;      /* JSON, NUL-terminated beyond value_len; NULL: none. later_end_free() */
    size_t value_len;
};

/* Waits until a job has ended, at most `wait` seconds; 0: looks once; INFINITY: as long as it
 * takes. Many may wait for one job. Of a job that was pushed without `result` (and whose type has
 * none) only its death is told, and that it is gone, which takes up to 5 seconds to be noticed; so
 * is it where a job is cancelled. A Redis that goes away meanwhile is waited for, too. Not for
 * handlers: a worker that waits for another's job may be the one that should run it. Returns 0; or
 * -1 with *err: LATER_E_REDIS, LATER_E_USAGE for a bad queue or id. */
int later_wait(struct later_client *client, const char *queue, const char *id, double wait,
               struct later_end *end, struct later_error *err);

/* Frees its value. */
void later_end_free(struct later_end *end);

#ifdef __cplusplus
}
#endif
#endif
