/*
 * fake_host.h: laterd's side of the plugin contract, for unit tests of plugins. No laterd, no
 * Redis. Take the two files fake_host.[ch] into the tests of your own plugin; later-job(3), section
 * TESTING, has an example.
 *
 *     fake_reset();
 *     plugin = fake_plugin_load("./mail.so");       or: later_plugin_open(fake_host())
 *     fake_configure(plugin, "smtp.host", "localhost", NULL);
 *     job = fake_job_new("mail.send", "{\"to\": \"a@b.c\"}");
 *     assert(fake_job_perform(plugin, job) == LATER_DONE && fake.misuses == 0);
 *     fake_job_free(job);
 *
 * It also watches: what a plugin must not do is counted in fake.misuses and told in fake.misuse.
 * The bytes of a document have exactly its length, so that valgrind and the address sanitizer
 * notice a plugin that reads past the payload's end.
 */
#ifndef FAKE_HOST_H
#define FAKE_HOST_H

#include <later/job.h>

#include <pthread.h>
#include <stdbool.h>

enum {
    FAKE_CLAIMS = 64,
    FAKE_NAME = 201,
    FAKE_LOG = 131072,
    FAKE_ERROR = 1000,
    FAKE_VALUE = 65536,
    FAKE_NOTE = 200
};

/* One attempt at one job. Set the first part before performing it, look at the second after. */
struct later_job {
    const char *id, *type, *queue, *token;
    const char *trace; /* NULL: none */
    char *document;    /* owned; no NUL at its end */
    size_t document_len;
    const char *payload; /* within the document */
    size_t payload_len;
    uint32_t attempt, max_attempts;
    double timeout; /* seconds that one attempt may take, from fake_job_perform() on; 300 */
    bool cancelled; /* fake_job_cancel() sets it; so may another thread */
    bool stopping;  /* what later_job_stopping() answers */
    const char *given, *flow; /* of later_job_values() and later_job_flow(): JSON; NULL: none */
    const char *resumes;      /* of later_job_resumes(): JSON; NULL: none */

    unsigned ended; /* perform returned a result, or the job was finished: as the how manieth of
                       all; 0 = not yet */
    enum later_result result;
    char error[FAKE_ERROR + 1];      /* the last later_job_error(), cut as laterd cuts it */
    double retry_in;                 /* of later_job_retry_in(); -1: not called */
    enum later_kind kind;            /* of later_job_kind() */
    unsigned values;                 /* calls of later_job_value() that were taken, ... */
    char value[FAKE_VALUE + 1];      /* ... and the last one */
    char checkpoint[FAKE_VALUE + 1]; /* the last later_job_checkpoint(); "" = none */
    double done, total;              /* of the last later_job_progress() */
    char note[FAKE_NOTE + 1];
    bool counted;   /* a limit waits to be told that it has begun */
    unsigned begun; /* calls of later_job_begun() */
    void *data;

    const struct later_type *handler; /* of the fake */
    bool performing;
    double deadline;
    pthread_t thread;
};

/* What the host's functions give and have seen. Set and read it freely between jobs. */
struct fake {
    struct event_base *base; /* for event types: the test's own */
    bool redis_away;         /* push, claim, lock, unlock, limit answer LATER_FAILED */
    int value_answer;        /* LATER_NO = nobody asks for results */
    int lock_answer, unlock_answer, limit_answer, push_answer; /* otherwise these; LATER_YES */
    unsigned stock;                                            /* how many there are of any item */

    unsigned ended;     /* jobs */
    unsigned logged[4]; /* lines by level */
    char log[FAKE_LOG]; /* all lines, as "debug text\n" */
    size_t log_len;
    unsigned claims;
    char claimed[FAKE_CLAIMS][FAKE_NAME]; /* by whom; claim number n is element n - 1 */
    unsigned pushes;
    struct {
        char type[129], queue[65], id[FAKE_NAME], payload[1024];
        double delay;
    } pushed;          /* the last one, cut where too long */
    char refusal[256]; /* what config, config_done or start said */
    unsigned misuses;
    char misuse[256]; /* the first one */
};

extern struct fake fake;

/* As new: all counters zero, all answers yes, no stock, no event base. */
void fake_reset(void);

/* The table of functions to hand to later_plugin_open(). */
const struct later_host *fake_host(void);

/* Loads a plugin's file and opens it with fake_host(). NULL if that fails: the reason is written to
 * standard error. It is never unloaded. */
const struct later_plugin *fake_plugin_load(const char *path);

/* Calls config for pairs of key and value, up to a NULL key, then config_done. Returns 0, or -1 at
 * the first refusal, with its text in fake.refusal. */
int fake_configure(const struct later_plugin *plugin, ...);

/* A job of this type with this payload (JSON; NULL: none), to be freed with fake_job_free(). The
 * type's string is borrowed. Aborts without memory, since a test can do no better. */
struct later_job *fake_job_new(const char *type, const char *payload);
void fake_job_free(struct later_job *job);

/* Waits until the type is ready, performs a job with the plugin's handler of it, and returns what
 * perform returned; the job
 * has ended unless that is LATER_DEFERRED. Then run fake.base until job->ended. Aborts if the
 * plugin has no such type. */
enum later_result fake_job_perform(const struct later_plugin *plugin, struct later_job *job);

/* Cancels a deferred job, as laterd does when its time is over: later_job_cancelled() is true from
 * now on, and the type's cancel is called. */
void fake_job_cancel(struct later_job *job);

#endif
