/* perform.c: runs one handler once, without Redis. */
#include "worker/perform.h"

#include "base/clock.h"
#include "reservation/job.h"
#include "worker/host.h"
#include "worker/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READY_LOOK 5000 /* microseconds between two looks whether a program is ready */

/* Reads standard input, at most `max` bytes and one more. */
static char *read_payload(size_t max, size_t *len, struct later_error *err)
{
    char *bytes = malloc(max + 2);

    if (!bytes) {
        later_fail(err, LATER_E_SYSTEM, "no memory");
        return NULL;
    }
    *len = fread(bytes, 1, max + 1, stdin);
    bytes[*len] = '\0';
    return bytes;
}

static char *perform_make_document(const char *type, size_t max, size_t *len,
                                   struct later_error *err)
{
    struct later_new_job job = { .type = type, .id = "perform" };
    char *payload = read_payload(max, &job.payload_len, err), *document;

    if (!payload)
        return NULL;
    if (strspn(payload, " \t\r\n") < job.payload_len)
        job.payload = payload;
    document = later_document_build(&job, max, len, err);
    free(payload);
    return document;
}

static int perform_run(struct later_job *job, struct event_base *base)
{
    const struct later_ending_row *row;
    uint32_t result;

    job->event = job->type->type.mode == LATER_EVENT;
    while (!plugin_type_ready(job->type, job->doc.type) && later_clock() < job->deadline) {
        event_base_loop(base, EVLOOP_NONBLOCK);
        usleep(READY_LOOK);
    }
    result = (uint32_t)job->type->type.perform(job);
    while (result == LATER_DEFERRED && job->event && !job->ended) {
        if (event_base_loop(base, EVLOOP_ONCE) != 0)
            break; /* nothing is left on the loop that could finish it */
    }
    if (!job->ended)
        job->result = result;
    if (!job_result_valid(job->result)) {
        fprintf(stderr, "the handler never finished\n");
        return LATER_E_BUG;
    }
    row = &later_endings[job_ending(job->result, false, LATER_KIND_RETRY)];
    fprintf(stderr, "%s%s%s\n", row->name, job->error[0] ? ": " : "", job->error);
    if (row->verb == LATER_VERB_ACK && job->value)
        printf("%.*s\n", (int)job->value_len, job->value);
    return row->verb == LATER_VERB_ACK    ? 0
           : row->verb == LATER_VERB_BURY ? LATER_E_DATA
                                          : LATER_E_LATER;
}

static int perform_in(struct worker *worker, const struct config *config, const char *path,
                      const char *type, struct later_error *err)
{
    struct later_job job = { .queue = "default", .id = "perform", .token = "0000000000000000" };
    char *document;
    int status;

    if (plugin_load(worker->plugins, path, host_table(worker), err) < 0 ||
        plugin_set_configure(worker->plugins, config, err) < 0)
        return (int)err->code;
    job.type = plugin_set_find(worker->plugins, type);
    if (!job.type) {
        later_fail(err, LATER_E_NONE, "%s: has no type %s; see laterd --describe", path, type);
        return (int)err->code;
    }
    document = perform_make_document(type, (size_t)config->document_max, &job.document_len, err);
    if (!document)
        return (int)err->code;
    job.document = document;
    if (later_document_parse(&job.doc, LATER_DOCUMENT_JOB, document, job.document_len,
                             (size_t)config->document_max, err) < 0 ||
        plugin_set_start(worker->plugins, err) < 0) {
        free(document);
        return (int)err->code;
    }
    job.attempt = 1;
    job.retry_in = -1;
    job.began = later_clock();
    job_policy(&job, config, NULL);
    status = perform_run(&job, worker->base);
    plugin_set_stop(worker->plugins);
    free(job.value);
    free(document);
    return status;
}

int perform_once(const struct config *config, const char *path, const char *type,
                 struct later_error *err)
{
    struct worker worker = { .config = config };
    int status;

    err->text[0] = '\0';
    worker.base = event_base_new();
    worker.plugins = plugin_set_new();
    if (!worker.base || !worker.plugins)
        status = LATER_E_SYSTEM;
    else
        status = perform_in(&worker, config, path, type, err);
    plugin_set_free(worker.plugins);
    if (worker.base)
        event_base_free(worker.base);
    return status;
}
