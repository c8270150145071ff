/* fake_host.c: laterd's side of the plugin contract, for unit tests of plugins. */
#include "fake_host.h"

#include "base/clock.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fake fake;

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;

static void misuse(const char *call, const char *text)
{
    if (fake.misuses++ == 0)
        snprintf(fake.misuse, sizeof fake.misuse, "%s: %s", call, text);
}

/* For calls that any thread may make. */
static void check_living(const struct later_job *job, const char *call)
{
    if (job->ended)
        misuse(call, "the job has ended");
}

/* For all other calls. */
static void check_call(const struct later_job *job, const char *call)
{
    check_living(job, call);
    if (!pthread_equal(job->thread, pthread_self()))
        misuse(call, "from another thread than perform");
}

static const char *job_string(const struct later_job *job, uint32_t which)
{
    const char *const strings[] = { job->id, job->type, job->queue, job->token, job->trace };

    check_call(job, "later_job_id … later_job_trace");
    return which < sizeof strings / sizeof *strings ? strings[which] : NULL;
}

static const char *job_bytes(const struct later_job *job, uint32_t which, size_t *len)
{
    bool payload = which == LATER_JOB_PAYLOAD;

    check_call(job, payload ? "later_job_payload" : "later_job_document");
    *len = payload ? job->payload_len : job->document_len;
    return payload ? job->payload : job->document;
}

static uint32_t job_number(const struct later_job *job, uint32_t which)
{
    check_call(job, "later_job_attempt, later_job_max_attempts");
    return which == LATER_JOB_ATTEMPT ? job->attempt : job->max_attempts;
}

static double job_time_left(const struct later_job *job)
{
    double left = job->deadline - later_clock();

    check_living(job, "later_job_time_left");
    return left > 0 ? left : 0;
}

static int job_cancelled(const struct later_job *job)
{
    check_living(job, "later_job_cancelled");
    return job->cancelled || job->deadline <= later_clock();
}

LATER_PRINTF(2, 0)
static void write_log(uint32_t level, const char *format, va_list args)
{
    static const char *const names[] = { "error", "warn", "info", "debug" };
    size_t room;
    int n;

    pthread_mutex_lock(&log_lock);
    if (level > LATER_DEBUG) {
        misuse("later_log", "no such level");
        level = LATER_ERROR;
    }
    fake.logged[level]++;
    room = sizeof fake.log - fake.log_len;
    n = snprintf(fake.log + fake.log_len, room, "%s ", names[level]);
    if (n > 0 && (size_t)n < room) {
        int m = vsnprintf(fake.log + fake.log_len + n, room - (size_t)n, format, args);

        if (m >= 0 && (size_t)(n + m) + 1 < room) {
            fake.log_len += (size_t)(n + m);
            fake.log[fake.log_len++] = '\n';
        }
    }
    fake.log[fake.log_len] = '\0';
    pthread_mutex_unlock(&log_lock);
}

LATER_PRINTF(3, 0)
static void job_logv(const struct later_job *job, uint32_t level, const char *format, va_list args)
{
    check_living(job, "later_job_log");
    write_log(level, format, args);
}

LATER_PRINTF(3, 0)
static void logv(const char *plugin, uint32_t level, const char *format, va_list args)
{
    if (!plugin)
        misuse("later_log", "without the plugin's name");
    write_log(level, format, args);
}

LATER_PRINTF(2, 0)
static void job_errorv(struct later_job *job, const char *format, va_list args)
{
    check_call(job, "later_job_error");
    vsnprintf(job->error, sizeof job->error, format, args);
}

static void job_retry_in(struct later_job *job, double seconds)
{
    check_call(job, "later_job_retry_in");
    if (!(seconds >= 0 && seconds <= 315360000))
        misuse("later_job_retry_in", "not 0 to 315,360,000 seconds");
    job->retry_in = seconds;
}

static void job_kind(struct later_job *job, uint32_t kind)
{
    check_call(job, "later_job_kind");
    if (kind > LATER_KIND_CRASH)
        misuse("later_job_kind", "no such kind");
    job->kind = (enum later_kind)kind;
}

static int job_wanted(const struct later_job *job)
{
    check_call(job, "later_job_wanted");
    return fake.value_answer;
}

static int job_value(struct later_job *job, const char *json, size_t len)
{
    check_call(job, "later_job_value");
    if (fake.value_answer != LATER_YES)
        return fake.value_answer;
    len = len ? len : strlen(json);
    if (len > FAKE_VALUE)
        return LATER_FAILED;
    memcpy(job->value, json, len);
    job->value[len] = '\0';
    job->values++;
    return LATER_YES;
}

static const char *job_given(struct later_job *job, uint32_t which, const char *step, size_t *len)
{
    const char *given = which == LATER_GIVEN_FLOW         ? job->flow
                        : which == LATER_GIVEN_CHECKPOINT ? job->resumes
                                                          : job->given;

    (void)step;
    check_call(job, "later_job_values … later_job_flow");
    given = which == LATER_GIVEN_VALUE ? NULL : given;
    *len = given ? strlen(given) : 0;
    return given;
}

static int job_checkpoint(struct later_job *job, const char *json, size_t len)
{
    check_call(job, "later_job_checkpoint");
    len = len ? len : strlen(json);
    if (len > FAKE_VALUE)
        return LATER_FAILED;
    memcpy(job->checkpoint, json, len);
    job->checkpoint[len] = '\0';
    return LATER_YES;
}

static int job_stopping(const struct later_job *job)
{
    check_living(job, "later_job_stopping");
    return job->stopping;
}

static int job_counted(const struct later_job *job)
{
    check_call(job, "later_job_counted");
    return job->counted && !job->begun ? LATER_YES : LATER_NO;
}

static int job_begun(struct later_job *job)
{
    check_call(job, "later_job_begun");
    job->begun++;
    return LATER_YES;
}

static int fake_type_says(const char *type, const char *json, size_t len)
{
    (void)type, (void)json, (void)len;
    return LATER_YES;
}

static int job_progress(struct later_job *job, double done, double total, const char *text)
{
    check_call(job, "later_job_progress");
    if (!(done >= 0 && total >= 0))
        misuse("later_job_progress", "a number below 0");
    job->done = done;
    job->total = total;
    snprintf(job->note, sizeof job->note, "%s", text ? text : "");
    return LATER_YES;
}

static void job_set_data(struct later_job *job, void *data)
{
    check_call(job, "later_job_set_data");
    job->data = data;
}

static void *job_data(const struct later_job *job)
{
    check_call(job, "later_job_data");
    return job->data;
}

static int job_finish(struct later_job *job, uint32_t result)
{
    check_call(job, "later_job_finish");
    if (job->performing)
        misuse("later_job_finish", "from within perform; return the result instead");
    if (result > LATER_BURY && result != LATER_RETURN)
        misuse("later_job_finish", "not a result that ends a job");
    if (job->ended)
        return -1;
    job->ended = ++fake.ended;
    job->result = (enum later_result)result;
    return 0;
}

static struct event_base *event_base(void)
{
    if (!fake.base)
        misuse("later_event_base", "the test has not set fake.base");
    return fake.base;
}

static int push(struct later_job *job, const struct later_push_job *what)
{
    check_call(job, "later_push");
    /* An older header's struct ends before `result`. */
    if (what->size < offsetof(struct later_push_job, result) || !what->type)
        misuse("later_push", "size or type is not set");
    if (fake.redis_away)
        return LATER_FAILED;
    fake.pushes++;
    snprintf(fake.pushed.type, sizeof fake.pushed.type, "%s", what->type ? what->type : "");
    snprintf(fake.pushed.queue, sizeof fake.pushed.queue, "%s",
             what->queue ? what->queue : job->queue);
    snprintf(fake.pushed.id, sizeof fake.pushed.id, "%s", what->id ? what->id : "");
    if (!what->payload)
        snprintf(fake.pushed.payload, sizeof fake.pushed.payload, "null");
    else if (what->payload_len)
        snprintf(fake.pushed.payload, sizeof fake.pushed.payload, "%.*s", (int)what->payload_len,
                 what->payload);
    else
        snprintf(fake.pushed.payload, sizeof fake.pushed.payload, "%s", what->payload);
    fake.pushed.delay = what->delay;
    return fake.push_answer;
}

/* There is one stock for all items. A claimant who comes again gets the same number. */
static int stock_claim(struct later_job *job, const char *item, const char *who, uint64_t *number)
{
    unsigned i = 0;

    check_call(job, "later_stock_claim");
    if (!item[0] || !who[0] || strlen(who) >= FAKE_NAME) {
        misuse("later_stock_claim", "an item and 1 to 200 bytes of claimant are needed");
        return LATER_FAILED;
    }
    if (fake.redis_away)
        return LATER_FAILED;
    while (i < fake.claims && strcmp(fake.claimed[i], who) != 0)
        i++;
    if (i == fake.claims && (fake.claims >= fake.stock || fake.claims >= FAKE_CLAIMS))
        return LATER_NO;
    if (number)
        *number = i + 1;
    if (i < fake.claims)
        return LATER_EXISTS;
    snprintf(fake.claimed[fake.claims++], FAKE_NAME, "%s", who);
    return LATER_YES;
}

static int answer(const struct later_job *job, const char *call, int wanted)
{
    check_call(job, call);
    return fake.redis_away ? (int)LATER_FAILED : wanted;
}

static int lock(struct later_job *job, const char *name, double ttl, double wait)
{
    if (!name[0] || !(ttl > 0) || !(wait >= 0))
        misuse("later_lock", "needs a name, a ttl above 0, a wait of 0 or more");
    return answer(job, "later_lock", fake.lock_answer);
}

static int unlock(struct later_job *job, const char *name)
{
    (void)name;
    return answer(job, "later_unlock", fake.unlock_answer);
}

static int lock_fence(struct later_job *job, const char *name, uint64_t *fence)
{
    if (!name || !fence)
        misuse("later_lock_fence", "needs a name and a place for the number");
    if (fence)
        *fence = 1;
    return answer(job, "later_lock_fence", fake.lock_answer);
}

static int limit(struct later_job *job, const char *key, uint32_t max, double per, uint32_t sliding)
{
    if (!key[0] || max == 0 || !(per > 0) || sliding > 1)
        misuse("later_limit", "needs a key, a max and a per above 0");
    return answer(job, "later_limit", fake.limit_answer);
}

const struct later_host *fake_host(void)
{
    static const struct later_host host = { .api = LATER_API,
                                            .size = sizeof host,
                                            .job_string = job_string,
                                            .job_bytes = job_bytes,
                                            .job_number = job_number,
                                            .job_time_left = job_time_left,
                                            .job_cancelled = job_cancelled,
                                            .job_logv = job_logv,
                                            .job_errorv = job_errorv,
                                            .job_retry_in = job_retry_in,
                                            .job_set_data = job_set_data,
                                            .job_data = job_data,
                                            .job_finish = job_finish,
                                            .logv = logv,
                                            .event_base = event_base,
                                            .push = push,
                                            .stock_claim = stock_claim,
                                            .lock = lock,
                                            .unlock = unlock,
                                            .limit = limit,
                                            .lock_fence = lock_fence,
                                            .job_kind = job_kind,
                                            .job_value = job_value,
                                            .job_progress = job_progress,
                                            .job_counted = job_counted,
                                            .job_begun = job_begun,
                                            .type_says = fake_type_says,
                                            .job_given = job_given,
                                            .job_checkpoint = job_checkpoint,
                                            .job_stopping = job_stopping,
                                            .job_wanted = job_wanted };

    return &host;
}

void fake_reset(void)
{
    memset(&fake, 0, sizeof fake); /* LATER_YES is 0 */
}

const struct later_plugin *fake_plugin_load(const char *path)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    __typeof__(later_plugin_open) *open = NULL;

    if (handle)
        open = (__typeof__(open))dlsym(handle, "later_plugin_open");
    if (open)
        return open(fake_host());
    fprintf(stderr, "%s: %s\n", path, dlerror());
    return NULL;
}

int fake_configure(const struct later_plugin *plugin, ...)
{
    va_list args;
    const char *key;
    int result = 0;

    fake.refusal[0] = '\0';
    va_start(args, plugin);
    while (result == 0 && (key = va_arg(args, const char *)))
        result = plugin->config(key, va_arg(args, const char *), fake.refusal, sizeof fake.refusal);
    va_end(args);
    if (result == 0 && plugin->config_done)
        result = plugin->config_done(fake.refusal, sizeof fake.refusal);
    return result == 0 ? 0 : -1;
}

struct later_job *fake_job_new(const char *type, const char *payload)
{
    struct later_job *job = calloc(1, sizeof *job);
    size_t before, payload_len = payload ? strlen(payload) : 0;
    char *text = malloc(strlen(type) + payload_len + 32);

    if (!job || !text)
        abort();
    before =
        (size_t)sprintf(text, payload ? "{\"type\":\"%s\",\"payload\":" : "{\"type\":\"%s\"", type);
    job->document_len = before + payload_len + 1;
    job->document = malloc(job->document_len);
    if (!job->document)
        abort();
    memcpy(job->document, text, before);
    if (payload)
        memcpy(job->document + before, payload, payload_len);
    job->document[before + payload_len] = '}';
    free(text);
    job->payload = payload ? job->document + before : "null";
    job->payload_len = payload ? payload_len : strlen("null");
    job->id = "job-1";
    job->type = type;
    job->queue = "default";
    job->token = "0123456789abcdef";
    job->attempt = 1;
    job->max_attempts = 25;
    job->timeout = 300;
    job->retry_in = -1;
    return job;
}

void fake_job_free(struct later_job *job)
{
    if (job)
        free(job->document);
    free(job);
}

/* The exact name, otherwise the longest pattern. */
static const struct later_type *find_type(const struct later_plugin *plugin, const char *type)
{
    const char *at = (const char *)plugin->types;
    const struct later_type *found = NULL, *t;
    size_t longest = 0;

    for (; (t = (const struct later_type *)(const void *)at)->name; at += plugin->type_size) {
        size_t len = strlen(t->name);

        if (strcmp(t->name, type) == 0)
            return t;
        if (len > longest && t->name[len - 1] == '*' && strncmp(t->name, type, len - 1) == 0) {
            longest = len;
            found = t;
        }
    }
    return found;
}

/* A plugin with an older header has shorter types. */
static bool is_ready(const struct later_plugin *plugin, const struct later_job *job)
{
    return plugin->type_size <= offsetof(struct later_type, ready) || !job->handler->ready ||
           job->handler->ready(job->type) == LATER_YES;
}

enum later_result fake_job_perform(const struct later_plugin *plugin, struct later_job *job)
{
    enum later_result result;

    job->handler = find_type(plugin, job->type);
    if (!job->handler) {
        fprintf(stderr, "plugin %s has no type %s\n", plugin->name, job->type);
        abort();
    }
    job->thread = pthread_self();
    job->deadline = later_clock() + job->timeout;
    while (!is_ready(plugin, job) && later_clock() < job->deadline)
        usleep(1000);
    job->performing = true;
    result = job->handler->perform(job);
    job->performing = false;
    if (result > LATER_RETURN || (result == LATER_DEFERRED && job->handler->mode != LATER_EVENT))
        misuse("perform", "returned what its type cannot return");
    if (result != LATER_DEFERRED) {
        job->ended = ++fake.ended;
        job->result = result;
    }
    return result;
}

void fake_job_cancel(struct later_job *job)
{
    job->cancelled = true;
    if (!job->ended && job->handler->cancel)
        job->handler->cancel(job);
}
