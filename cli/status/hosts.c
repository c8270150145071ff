/* hosts.c: the daemons in later:hosts. */
#include "status/hosts.h"

#include "base/printable.h"
#include "trouble/say.h"
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- one host; a member that is missing or of the wrong type counts as 0 or "" --- */

static const struct host_state {
    const char *word;
    enum colour colour;
} host_alive = { "alive", GREEN }, host_quiet = { "quiet", YELLOW }, host_gone = { "gone", RED };

static const struct host_state *hosts_state_of(const json_t *host, double now)
{
    if (served_is_gone(host, now))
        return &host_gone;
    return json_object_get(host, "quiet") ? &host_quiet : &host_alive;
}

/* Returns attempts per second in the last minute. Older versions only report the total, so then it
 * is the rate since the start. */
static double rate_of(const json_t *host)
{
    const json_t *rate = json_object_get(host, "rate");
    double up = text_number_member(host, "seen") - text_number_member(host, "started");

    if (json_is_number(rate))
        return json_number_value(rate);
    return up > 0 ? text_number_member(host, "performed") / up : 0;
}

/* Adds "a,b,tenant-*(12)": for a pattern, with the number of queues it matches now. */
static void hosts_add_queues(struct table *table, const json_t *host)
{
    const json_t *patterns = json_object_get(host, "patterns"), *queue;
    char names[512] = "";
    size_t i;

    json_array_foreach(json_object_get(host, "queues"), i, queue)
    {
        const char *name = json_is_string(queue) ? json_string_value(queue) : "?";
        const json_t *means = json_object_get(patterns, name);
        size_t len = strlen(names);

        snprintf(names + len, sizeof names - len, "%s%s", i ? "," : "", name);
        len = strlen(names);
        if (means)
            snprintf(names + len, sizeof names - len, "(%.0f)", json_number_value(means));
    }
    table_text(table, PLAIN, names);
}

/* Adds "q:3,r:1": the running jobs by queue. */
static void add_runs(struct table *table, json_t *host)
{
    char text[512] = "";
    const char *queue;
    json_t *count;

    json_object_foreach(json_object_get(host, "runs"), queue, count)
    {
        size_t len = strlen(text);

        snprintf(text + len, sizeof text - len, "%s%s:%.0f", len ? "," : "", queue,
                 json_number_value(count));
    }
    table_text(table, PLAIN, text);
}

/* Adds how many jobs ran at once, on average over the minutes that it tells. */
static void add_busy(struct table *table, const json_t *host)
{
    const json_t *minute;
    double sum = 0;
    size_t i, looked = 0;

    json_array_foreach(json_object_get(host, "busy"), i, minute)
    {
        looked += json_is_number(minute);
        sum += json_number_value(minute);
    }
    if (looked)
        table_print(table, PLAIN, "%.1f", sum / (double)looked);
    else
        table_none(table);
}

/* Adds "mail:4,slow:1": the workers of each pool. */
static void add_pools(struct table *table, const json_t *host)
{
    const json_t *pool;
    char text[512] = "";
    size_t i;

    json_array_foreach(json_object_get(host, "pools"), i, pool)
    {
        size_t len = strlen(text);

        snprintf(text + len, sizeof text - len, "%s%s:%" PRIu64, i ? "," : "",
                 text_member(pool, "name"), text_count_member(pool, "workers"));
    }
    table_text(table, PLAIN, text);
}

/* Older versions do not tell all of it. */
static void add_load(struct table *table, const json_t *host)
{
    uint64_t memory = text_count_member(host, "memory"),
             crashes = text_count_member(host, "crashes");

    add_busy(table, host);
    if (memory)
        table_size(table, memory);
    else
        table_none(table);
    table_number(table, crashes ? YELLOW : PLAIN, crashes);
    add_pools(table, host);
}

/* Prints how many connections there are to each node of a Cluster. */
static void print_connections(struct cli *cli, json_t *nodes)
{
    static const char *const headings[] = { "NODE", ">CONNECTIONS", NULL };
    struct table table;
    const char *node;
    json_t *count;

    if (cli->json || json_object_size(nodes) == 0)
        return;
    if (cli->out_terminal)
        putchar('\n');
    cli_table(cli, &table, headings);
    json_object_foreach(nodes, node, count)
    {
        table_text(&table, PLAIN, node);
        table_number(&table, PLAIN, (uint64_t)json_number_value(count));
    }
    table_end(&table);
}

static void hosts_add_row(struct table *table, json_t *host, double now)
{
    const struct host_state *state = hosts_state_of(host, now);
    enum colour colour = state == &host_gone ? DIM : PLAIN;

    table_text(table, colour, text_member(host, "host"));
    table_number(table, colour, text_count_member(host, "pid"));
    table_text(table, colour, text_member(host, "version"));
    table_text(table, state->colour, state->word);
    table_age(table, colour, now - text_number_member(host, "started"));
    table_age(table, colour, now - text_number_member(host, "seen"));
    table_number(table, colour, text_count_member(host, "workers"));
    table_number(table, colour, text_count_member(host, "running"));
    table_number(table, colour, text_count_member(host, "performed"));
    table_number(table, colour, text_count_member(host, "failed"));
    table_print(table, colour, "%.1f", rate_of(host));
    hosts_add_queues(table, host);
    add_runs(table, host);
    add_load(table, host);
}

static void tell_quiet(const struct cli *cli, const json_t *host, double now)
{
    const json_t *quiet = json_object_get(host, "quiet");
    double since = text_number_member(quiet, "since"), until = text_number_member(quiet, "until");
    char at[LATER_SAY_SIZE], from[80] = "", till[80] = "";
    const char *by = text_member(quiet, "by");

    if (!quiet || served_is_gone(host, now))
        return;
    if (since > 0)
        snprintf(from, sizeof from, " since %s", later_say_since(at, since, now));
    if (until > 0)
        snprintf(till, sizeof till, ", for %s more",
                 later_say_age(at, until > now ? until - now : 0));
    cli_say(cli, "%s: quiet%s%s%s%s", text_member(host, "host"), from, *by ? " by " : "", by, till);
}

/* The reasons come below the table, since they are long. */
static void tell_reasons(const struct cli *cli, const json_t *host, double now)
{
    static const struct {
        const char *name, *words;
    } reasons[] = { { "fault", "" }, { "reload_refused", "the last reload was refused: " } };

    tell_quiet(cli, host, now);
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons && !served_is_gone(host, now); i++) {
        const char *why = text_member(host, reasons[i].name);

        if (*why)
            cli_say(cli, "%s: %s%s", text_member(host, "host"), reasons[i].words, why);
    }
}

static void hosts_print_json(json_t *host, const char *id, double now)
{
    char *line;

    json_object_set_new(host, "id", json_string(id));
    json_object_set_new(host, "gone", json_boolean(served_is_gone(host, now)));
    json_object_set_new(host, "rate", json_real(rate_of(host)));
    line = json_dumps(host, JSON_COMPACT | JSON_REAL_PRECISION(16));
    if (line)
        puts(line);
    free(line);
}

/* --- all of them --- */

int hosts_print(struct cli *cli, const struct served *served)
{
    static const char *const headings[] = { "HOST",       ">PID",    "VERSION",     "STATE",
                                            ">UP",        ">SEEN",   ">WORKERS",    ">RUNNING",
                                            ">PERFORMED", ">FAILED", ">PER SECOND", "QUEUES",
                                            "RUNS",       ">BUSY",   ">MEMORY",     ">CRASHES",
                                            "POOLS",      NULL };
    double now = served_at(served);
    json_t *nodes = json_object();
    struct table table;
    int count = 0;

    cli_table(cli, &table, headings);
    for (size_t i = 0; i < served_count(served); i++) {
        json_t *host = served_host(served, i);

        if (!host) {
            cli_say(cli, "%s: its entry cannot be read", served_id(served, i));
            continue;
        }
        if (cli->json) {
            hosts_print_json(host, served_id(served, i), now);
        } else {
            hosts_add_row(&table, host, now);
            tell_reasons(cli, host, now);
        }
        if (!served_is_gone(host, now))
            served_add_up(nodes, json_object_get(host, "nodes"));
        count++;
    }
    table_end(&table);
    print_connections(cli, nodes);
    json_decref(nodes);
    return count;
}

size_t hosts_list(const struct served *served, struct host **hosts)
{
    double now = served_at(served);
    size_t count = 0;

    *hosts = calloc(served_count(served) + 1, sizeof **hosts);
    for (size_t i = 0; *hosts && i < served_count(served); i++) {
        const json_t *json = served_host(served, i);
        struct host *host = &(*hosts)[count];

        if (!json)
            continue;
        *host = (struct host){ .gone = served_is_gone(json, now),
                               .workers = text_count_member(json, "workers"),
                               .running = text_count_member(json, "running"),
                               .failed = text_count_member(json, "failed"),
                               .rate = rate_of(json),
                               .up = now - text_number_member(json, "started") };
        snprintf(host->name, sizeof host->name, "%s", text_member(json, "host"));
        snprintf(host->fault, sizeof host->fault, "%s", text_member(json, "fault"));
        later_make_printable(host->name);
        later_make_printable(host->fault);
        count++;
    }
    return count;
}
