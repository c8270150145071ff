/* good.c: a plugin that does everything it may, and notes what it was asked. test_plugin.c reads
 * `trace` and the order number. */
#include <later/job.h>

#include <stdio.h>
#include <string.h>

LATER_EXPORT char good_trace[512];

static void trace(const char *what, const char *key, const char *value)
{
    size_t len = strlen(good_trace);

    snprintf(good_trace + len, sizeof good_trace - len, "%s%s%s%s%s;", what, key ? " " : "",
             key ? key : "", value ? "=" : "", value ? value : "");
}

static int config(const char *key, const char *value, char *err, size_t n)
{
    trace("config", key, value);
    if (strcmp(key, "refuse") == 0) {
        snprintf(err, n, "%s", value);
        return -1;
    }
    if (strcmp(key, "overflow") == 0) { /* fills err to its last byte, without a NUL */
        memset(err, 'x', n);
        return -1;
    }
    return 0;
}

static int config_done(char *err, size_t n)
{
    const char *of = strstr(good_trace, "done=no");

    trace("config_done", NULL, NULL);
    if (of) {
        snprintf(err, n, "%sa host is missing", of[-1] == '.' ? "smtp: " : "");
        return -1;
    }
    return 0;
}

static int start(char *err, size_t n)
{
    (void)n;
    trace("start", NULL, NULL);
    err[0] = '\0'; /* a refusal without a word */
    return strstr(good_trace, "start=no") ? -1 : 0;
}

static void stop(void)
{
    trace("stop", NULL, NULL);
}

static enum later_result perform(struct later_job *job)
{
    later_job_log(job, LATER_INFO, "%s", later_job_type(job));
    return LATER_DONE;
}

static void cancel(struct later_job *job)
{
    later_job_finish(job, LATER_RETRY);
}

static const struct later_type types[] = {
    { .name = "good.serial", .perform = perform },
    { .name = "good.event", .mode = LATER_EVENT, .perform = perform, .cancel = cancel },
    { .name = "good.*", .perform = perform },
    { .name = "good.deep.*", .perform = perform },
    { 0 }
};

LATER_PLUGIN(.name = "good", .version = "1.2.3", .types = types, .config = config,
             .config_done = config_done, .start = start, .stop = stop,
             .config_help = "host: where to");
