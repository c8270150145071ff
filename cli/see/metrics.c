/* metrics.c: `later metrics`, for Prometheus. */
#include "commands.h"
#include "see/exposition.h"
#include "see/gather.h"
#include "status/trouble.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LABELS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* Writes a family with one sample for each queue. */
static void each_queue(struct exposition *text, const struct gathered *gathered,
                       void (*fn)(struct exposition *text, const struct gathered_queue *queue))
{
    for (size_t i = 0; i < gathered->list.count; i++) {
        if (gathered->queues[i].sized->err.code == LATER_OK)
            fn(text, &gathered->queues[i]);
    }
}

static const char *metrics_name_of(const struct gathered_queue *queue)
{
    return queue->sized->name;
}

static void put_states(struct exposition *text, const struct gathered_queue *queue)
{
    static const enum later_key states[] = { LATER_KEY_READY, LATER_KEY_DELAYED, LATER_KEY_RESERVED,
                                             LATER_KEY_DEAD, LATER_KEY_WAITING };

    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        exposition_int(text, later_sizes_in(&queue->sized->sizes, states[i]),
                       LABELS("queue", metrics_name_of(queue), "state", later_key_name(states[i])));
}

static void put_news(struct exposition *text, const struct gathered_queue *queue)
{
    exposition_int(text, queue->sized->sizes.news, LABELS("queue", metrics_name_of(queue)));
}

static void put_groups(struct exposition *text, const struct gathered_queue *queue)
{
    for (size_t i = 0; i < queue->groups.count; i++)
        exposition_int(
            text, queue->groups.groups[i].ready,
            LABELS("queue", metrics_name_of(queue), "group", queue->groups.groups[i].name));
}

static void put_oldest(struct exposition *text, const struct gathered_queue *queue)
{
    double age = queue->sized->sizes.oldest_ready;

    exposition_real(text, age > 0 ? age : 0, LABELS("queue", metrics_name_of(queue)));
}

static void put_paused(struct exposition *text, const struct gathered_queue *queue)
{
    exposition_int(text, queue->sized->paused == queue->sized->parts,
                   LABELS("queue", metrics_name_of(queue)));
}

static void put_running(struct exposition *text, const struct gathered_queue *queue)
{
    exposition_int(text, queue->running, LABELS("queue", metrics_name_of(queue)));
}

static const char *type_of(const struct later_tally *row)
{
    return *row->type ? row->type : "(other)"; /* no type has a parenthesis */
}

static void put_attempts(struct exposition *text, const struct gathered_queue *queue)
{
    for (size_t i = 0; i < queue->totals.count; i++) {
        const struct later_tally *row = queue->totals.rows[i];

        for (int n = 0; n < LATER_OUTCOMES; n++)
            exposition_int(text, row->outcomes[n],
                           LABELS("queue", metrics_name_of(queue), "type", type_of(row), "result",
                                  later_outcome_name((enum later_outcome)n)));
    }
}

static void put_waits(struct exposition *text, const struct gathered_queue *queue)
{
    for (size_t i = 0; i < queue->histograms; i++) {
        const struct later_tally *row = queue->totals.rows[i];

        exposition_histogram(text, &row->wait, row->wait_us,
                             LABELS("queue", metrics_name_of(queue), "type", type_of(row)));
    }
}

static void put_runs(struct exposition *text, const struct gathered_queue *queue)
{
    for (size_t i = 0; i < queue->histograms; i++) {
        const struct later_tally *row = queue->totals.rows[i];

        exposition_histogram(text, &row->run, row->run_us,
                             LABELS("queue", metrics_name_of(queue), "type", type_of(row)));
    }
}

static void put_counters(struct exposition *text, const struct gathered *gathered)
{
    for (int n = 0; n < LATER_COUNTED; n++) {
        const char *counter = later_counter_name((enum later_counter)n);
        char name[48], help[96];

        snprintf(name, sizeof name, "laterd_jobs_%s", counter);
        snprintf(help, sizeof help, "Jobs that the counter %s of a queue has counted.", counter);
        exposition_family(text, name, COUNTER, NULL, help);
        for (size_t i = 0; i < gathered->list.count; i++) {
            const struct sized *sized = &gathered->sized[i];

            if (sized->err.code == LATER_OK)
                exposition_int(text, sized->sizes.counters[n], LABELS("queue", sized->name));
        }
    }
}

static void put_queues(struct exposition *text, const struct gathered *gathered)
{
    exposition_family(text, "laterd_jobs", GAUGE, NULL, "Jobs of a queue, by state.");
    each_queue(text, gathered, put_states);
    exposition_family(text, "laterd_queue_news", GAUGE, NULL,
                      "News of flows that no laterd has taken to another queue yet.");
    each_queue(text, gathered, put_news);
    exposition_family(text, "laterd_group_ready_jobs", GAUGE, NULL,
                      "Ready jobs of the 20 groups of a queue that have most; \"\" has no group.");
    each_queue(text, gathered, put_groups);
    exposition_family(text, "laterd_queue_oldest_ready_seconds", GAUGE, "seconds",
                      "Age of the oldest job that could run; 0 if there is none.");
    each_queue(text, gathered, put_oldest);
    exposition_family(text, "laterd_queue_paused", GAUGE, NULL, "1 while the queue is paused.");
    each_queue(text, gathered, put_paused);
    exposition_family(text, "laterd_running_jobs", GAUGE, NULL,
                      "Jobs of a queue that run in laterds, as of a few seconds ago.");
    each_queue(text, gathered, put_running);
    put_counters(text, gathered);
    exposition_family(text, "laterd_attempts", COUNTER, NULL,
                      "Attempts by laterds that ended, by result; a return does not count as one.");
    each_queue(text, gathered, put_attempts);
    exposition_family(text, "laterd_job_wait_seconds", HISTOGRAM, "seconds",
                      "Time from when a job could have begun until it began.");
    each_queue(text, gathered, put_waits);
    exposition_family(text, "laterd_job_run_seconds", HISTOGRAM, "seconds",
                      "Time that an attempt ran.");
    each_queue(text, gathered, put_runs);
    exposition_family(text, "laterd_histograms_left_out", GAUGE, NULL,
                      "Queues and types beyond the first 1,000, which have no histograms here.");
    exposition_int(text, gathered->left_out, NULL);
}

static void metrics_put_hosts(struct exposition *text, const struct gathered *gathered)
{
    struct later_tally besides;

    exposition_family(text, "laterd_hosts", GAUGE, NULL, "Daemons that are alive.");
    exposition_int(text, gathered->hosts, NULL);
    exposition_family(text, "laterd_workers", GAUGE, NULL, "Their worker processes.");
    exposition_int(text, gathered->workers, NULL);
    later_tallies_sum(&gathered->besides, &besides);
    exposition_family(text, "laterd_worker_crashes", COUNTER, NULL,
                      "Worker processes that died by themselves.");
    exposition_int(text, besides.outcomes[LATER_OUTCOME_CRASH], NULL);
}

/* Does an earlier one have the same labels? */
static bool metrics_is_said(const struct later_troubles *troubles, size_t n)
{
    const struct later_trouble *row = &troubles->rows[n];

    for (size_t i = 0; i < n; i++) {
        const struct later_trouble *one = &troubles->rows[i];

        if (one->rule == row->rule && strcmp(one->queue, row->queue) == 0 &&
            strcmp(one->host, row->host) == 0 && strcmp(one->type, row->type) == 0)
            return true;
    }
    return false;
}

/* Without the right to look for them there are none. */
static void metrics_put_troubles(struct exposition *text, struct cli *cli,
                                 const struct gathered *gathered)
{
    struct later_troubles troubles = { 0 };
    struct later_error ignored;

    if (trouble_look(cli, &gathered->list, gathered->sized, &troubles, &ignored) == 0) {
        exposition_family(text, "laterd_trouble", GAUGE, NULL,
                          "What is wrong now, by the rules of later status --trouble.");
        for (size_t i = 0; i < troubles.count; i++) {
            const struct later_trouble *row = &troubles.rows[i];

            if (!metrics_is_said(&troubles, i))
                exposition_int(text, 1,
                               LABELS("rule", later_rules[row->rule].name, "queue", row->queue,
                                      "host", row->host, "type", row->type));
        }
    }
    free(troubles.rows);
}

/* Only for `later serve`, which knows when Redis answered last. */
static void put_silence(struct exposition *text, const struct cli *cli, bool up)
{
    double silence = cli->client ? later_call_silence(cli->client) : -1;

    if (silence < 0)
        return;
    exposition_family(text, "laterd_redis_silent_seconds", GAUGE, "seconds",
                      "Time since Redis last answered; 0 while it answers.");
    exposition_real(text, up ? 0 : silence, NULL);
}

static int metrics_run(struct cli *cli, struct later_error *err)
{
    struct exposition text = { .out = stdout, .openmetrics = args_flag(&cli->args, "openmetrics") };
    struct gathered gathered = { .hosts = 0 };
    double now;
    bool up = cli_clock(cli, &now, err) == 0;

    if (!up && (err->code == LATER_E_USAGE || err->code == LATER_E_CONFIG))
        return -1;
    exposition_family(&text, "laterd_build", INFO, NULL, "The version of this later.");
    exposition_int(&text, 1, LABELS("version", VERSION));
    fflush(stdout); /* later-web waits longer, now that Redis has answered */
    up = up && gather(cli, &gathered, err) == 0;
    if (!up)
        cli_say(cli, "%s", err->text);
    exposition_family(&text, "laterd_redis_up", GAUGE, NULL,
                      "1 if Redis has answered all questions for these metrics.");
    exposition_int(&text, up, NULL);
    put_silence(&text, cli, up);
    if (gathered.queues && gathered.sized)
        put_queues(&text, &gathered);
    if (up)
        metrics_put_hosts(&text, &gathered);
    if (up)
        metrics_put_troubles(&text, cli, &gathered);
    exposition_end(&text);
    gather_free(&gathered);
    return LATER_OK;
}

static const struct args_option options[] = {
    { "openmetrics", 0, NULL, "OpenMetrics 1.0 instead of Prometheus's text format 0.0.4" },
    { 0 },
};

const struct command command_metrics = {
    .name = "metrics",
    .usage = "[--openmetrics]",
    .brief = "Print metrics for Prometheus",
    .more =
        "Covers all queues in this Redis, whichever host serves them: run it on one host only. If\n"
        "Redis is away, laterd_redis_up is 0, and so is the status.\n",
    .example = "later metrics | sponge /var/lib/prometheus/node-exporter/later.prom\n",
    .options = options,
    .run = metrics_run,
};
