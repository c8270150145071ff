/* exec_fixture.c: the exec plugin in the fake host. */
#include "exec_fixture.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef JOBS_DIR
#define JOBS_DIR "."
#endif

const struct later_plugin *plugin;
struct later_job *job;

void exec_begin(void)
{
    const char *dir = getenv("JOBS_DIR");
    char path[1024];

    fake_reset();
    snprintf(path, sizeof path, "%s/exec.so", dir ? dir : JOBS_DIR);
    plugin = fake_plugin_load(path);
    ck_assert_ptr_nonnull(plugin);
    job = fake_job_new("exec.it", "{\"a\":[]}");
}

void exec_end(void)
{
    fake_job_free(job);
    plugin->stop();
    ck_assert_msg(fake.misuses == 0, "%s", fake.misuse);
}

void option(const char *key, const char *value)
{
    ck_assert_msg(plugin->config(key, value, fake.refusal, sizeof fake.refusal) == 0, "%s: %s", key,
                  fake.refusal);
}

void script(const char *text)
{
    option("it.argv.0", "/bin/sh");
    option("it.argv.1", "-c");
    option("it.argv.2", text);
}

/* A job waits a second for a program that still starts, and is given back then, as it should be.
 * On a slow machine that is often too short, so it is performed again, as laterd does. */
static enum later_result perform(void)
{
    double until = later_clock() + 60;
    enum later_result result = fake_job_perform(plugin, job);

    while (result == LATER_RETURN && strcmp(job->error, "it still starts") == 0 &&
           later_clock() < until) {
        job->ended = false;
        job->error[0] = '\0';
        result = fake_job_perform(plugin, job);
    }
    return result;
}

void expect(enum later_result result)
{
    ck_assert_msg(plugin->config_done(fake.refusal, sizeof fake.refusal) == 0, "%s", fake.refusal);
    ck_assert_int_eq(perform(), result);
}

void large_job(size_t len)
{
    char *payload = malloc(len + 1);

    ck_assert_ptr_nonnull(payload);
    memset(payload, 'x', len);
    payload[0] = payload[len - 1] = '"';
    payload[len] = '\0';
    fake_job_free(job);
    job = fake_job_new("exec.it", payload);
    free(payload);
}

void lines(const char *text)
{
    script(text);
    option("it.lines", "true");
}

void each_line(const char *text)
{
    char whole[2000];

    snprintf(whole, sizeof whole, "while IFS= read -r line; do %s; done", text);
    lines(whole);
}

void again(enum later_result result)
{
    job->ended = false;
    job->error[0] = '\0';
    expect(result);
}

void expect_error(const char *error)
{
    ck_assert_msg(strcmp(job->error, error) == 0, "\"%s\", not \"%s\"", job->error, error);
}
