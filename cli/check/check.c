/* check.c: `later check` tests the invariants of a queue on a live Redis. */
#include "check/check.h"

#include "commands.h"
#include "output/jsonl.h"
#include "queue/conservation.h"
#include "sizes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NEWS_SECONDS 60 /* for which news of flows may be on its way */

#define TRIES 5 /* a busy queue changes between counting and scanning */

struct report {
    const char *queue;
    struct later_sizes sizes;
    struct check_scan scan;
    bool counters_ok, sets_ok, members_ok;
    bool undecided; /* the sets do not match the counts, but the queue moved, so each count may be
                       right */
    bool stray;     /* the queue is not in later:queues */
    bool name_ok;   /* it is in later:queues, or has no jobs */
};

/* --- checking --- */

static bool has_moved(const struct later_sizes *before, const struct later_sizes *after)
{
    return memcmp(before->counters, after->counters, sizeof before->counters) != 0 ||
           before->ready != after->ready || before->delayed != after->delayed ||
           before->reserved != after->reserved || before->dead != after->dead ||
           before->jobs != after->jobs;
}

/* Do the tokens hold as many jobs as the counters say? This is only known if nothing was reserved
 * meanwhile. */
static bool reserved_agree(const struct report *report, const struct later_sizes *after)
{
    const struct later_sizes *before = &report->sizes;

    return before->counters[LATER_COUNT_RESERVED] != after->counters[LATER_COUNT_RESERVED] ||
           before->reserved != after->reserved || report->scan.reserved == after->reserved;
}

/* Counts before and after the scan: what the scan finds must lie between the two counts. It may lie
 * outside if the queue moves. A job that ends after its set was read, but before its document is
 * looked up, looks like one that is not adopted. */
static int check_once(struct cli *cli, const struct later_keys *keys, struct report *report,
                      struct later_error *err)
{
    struct later_sizes after;
    int64_t unadopted, first, last;
    bool possible;

    if (sizes_part(cli, keys, &report->sizes, err) < 0 ||
        check_scan(cli, keys, &report->scan, err) < 0 ||
        check_beside(cli, keys, &report->scan, err) < 0 || sizes_part(cli, keys, &after, err) < 0)
        return -1;
    unadopted = (int64_t)report->scan.unadopted;
    first = later_unadopted(&report->sizes);
    last = later_unadopted(&after);
    possible = reserved_agree(report, &after) && first >= 0 && last >= 0;
    report->counters_ok = later_conserved(&report->sizes) && later_conserved(&after);
    report->sets_ok = possible && unadopted >= (first < last ? first : last) &&
                      unadopted <= (first > last ? first : last);
    report->undecided = possible && !report->sets_ok && has_moved(&report->sizes, &after);
    return 0;
}

static int check_one_queue(struct cli *cli, const struct later_keys *keys, struct report *report,
                           struct later_error *err)
{
    int ok = -1;

    for (int i = 0; i < TRIES; i++) {
        ok = check_once(cli, keys, report, err);
        cli->ahead = NULL; /* another try asks anew */
        /* Movement can only spoil the second equation, so another try is only for that. */
        if (ok < 0 || report->sets_ok || later_unadopted(&report->sizes) < 0)
            break;
    }
    if (ok == 0 && !report->sets_ok) {
        ok = check_documents(cli, keys, &report->scan, err);
        /* The sums prove nothing about a queue that never rests. But by now every member and every
         * document has been looked at. */
        report->sets_ok = report->undecided;
    }
    report->members_ok = report->scan.faults == 0;
    return ok;
}

/* --- telling --- */

static const enum later_key sets[] = { LATER_KEY_READY, LATER_KEY_DELAYED, LATER_KEY_RESERVED,
                                       LATER_KEY_DEAD, LATER_KEY_WAITING };
#define SETS (sizeof sets / sizeof *sets)

/* News of flows that is not moved is no fault of the sums, but something waits for it. */
static bool news_ok(const struct report *report)
{
    return report->sizes.news == 0 || report->sizes.news_age < NEWS_SECONDS;
}

static void check_print_json(const struct report *report)
{
    const struct later_sizes *sizes = &report->sizes;
    struct jsonl json;

    if (report->stray)
        jsonl_line(stdout, "queue:%s check:name ok:%c", report->queue, report->name_ok);
    jsonl_begin(&json, stdout);
    jsonl_add(&json, "queue:%s check:counters ok:%c", report->queue, report->counters_ok);
    for (int i = 0; i < LATER_CONSERVED; i++)
        jsonl_int(&json, later_counter_name((enum later_counter)i), (int64_t)sizes->counters[i]);
    jsonl_add(&json, "jobs:%ju", sizes->jobs);
    jsonl_end(&json);
    jsonl_begin(&json, stdout);
    jsonl_add(&json, "queue:%s check:sets ok:%c", report->queue, report->sets_ok);
    for (size_t i = 0; i < SETS; i++)
        jsonl_int(&json, later_key_name(sets[i]), (int64_t)later_sizes_in(sizes, sets[i]));
    jsonl_add(&json, "jobs:%ju unadopted:%ju", sizes->jobs, report->scan.unadopted);
    jsonl_end(&json);
    if (sizes->news > 0)
        jsonl_line(stdout, "queue:%s check:news ok:%c news:%ju seconds:%ju", report->queue,
                   news_ok(report), sizes->news, sizes->news_age);
    jsonl_line(stdout, "queue:%s check:members ok:%c looked_at:%ju faults:%ju fault:%s",
               report->queue, report->members_ok, report->scan.looked_at, report->scan.faults,
               report->scan.faults ? report->scan.fault : NULL);
}

static void check_add_row(struct table *table, const struct report *report, const char *check,
                          bool ok, const char *words)
{
    table_text(table, PLAIN, report->queue);
    table_text(table, PLAIN, check);
    table_text(table, ok ? GREEN : RED, ok ? "ok" : "VIOLATED");
    table_text(table, PLAIN, words);
}

static void add_sets(struct table *table, const struct report *report)
{
    char words[300];
    int len = 0;

    for (size_t i = 0; i < SETS; i++)
        len += snprintf(words + len, sizeof words - (size_t)len, "%s%s %" PRIu64, i ? " + " : "",
                        later_key_name(sets[i]), later_sizes_in(&report->sizes, sets[i]));
    snprintf(words + len, sizeof words - (size_t)len, " = jobs %" PRIu64 " + unadopted %" PRIu64,
             report->sizes.jobs, report->scan.unadopted);
    check_add_row(table, report, "sets", report->sets_ok, words);
}

static void check_add_members(struct table *table, const struct report *report)
{
    char words[520];

    if (report->scan.faults)
        snprintf(words, sizeof words, "%" PRIu64 " looked at, %" PRIu64 " faults; the first: %s",
                 report->scan.looked_at, report->scan.faults, report->scan.fault);
    else
        snprintf(words, sizeof words, "%" PRIu64 " looked at, each in one set, with its document",
                 report->scan.looked_at);
    check_add_row(table, report, "members", report->members_ok, words);
}

static void check_add_news(struct table *table, const struct report *report)
{
    const struct later_sizes *sizes = &report->sizes;
    char words[200];

    snprintf(words, sizeof words,
             "%" PRIu64 " of flows, for other queues, the oldest for %" PRIu64 " s%s", sizes->news,
             sizes->news_age,
             news_ok(report) ? ""
                             : "; a laterd that serves this queue moves it; its log says what "
                               "hinders it");
    check_add_row(table, report, "news", news_ok(report), words);
}

static void check_add_rows(struct table *table, const struct report *report)
{
    char words[400];

    if (report->stray)
        check_add_row(table, report, "name", report->name_ok,
                      report->name_ok
                          ? "it is not in later:queues yet: only plain ZADDs so far"
                          : "it has jobs but is not in later:queues, so nobody looks for it");
    check_add_row(table, report, "counters", report->counters_ok,
                  later_conserved_text(&report->sizes, words, sizeof words));
    add_sets(table, report);
    if (report->sizes.news > 0)
        check_add_news(table, report);
    check_add_members(table, report);
}

/* --- the command --- */

static int check_one(struct cli *cli, const char *queue, bool stray, struct table *table,
                     bool *empty, struct later_error *err)
{
    struct report report = { .queue = queue, .stray = stray };
    struct later_keys keys;

    *empty = false;
    if (cli_keys(cli, queue, &keys, err) < 0 || check_one_queue(cli, &keys, &report, err) < 0)
        return -1;
    report.name_ok = !stray || report.sizes.jobs == 0;
    *empty = report.sizes.jobs + report.sizes.ready + sizes_traces(&report.sizes) == 0;
    if (cli->json)
        check_print_json(&report);
    else
        check_add_rows(table, &report);
    return report.counters_ok && report.sets_ok && report.members_ok && report.name_ok &&
                   news_ok(&report)
               ? LATER_OK
               : 1;
}

/* The check of one queue asks one thing after the other; so the answers for many small ones are
 * asked for ahead. */
static int check_some(struct cli *cli, const later_queue_name *names, size_t count, bool stray,
                      struct table *table, struct later_error *err)
{
    static struct ahead ahead[CHECK_TOGETHER];
    int status = LATER_OK;

    check_ahead(cli, names, count, ahead);
    for (size_t i = 0; i < count; i++) {
        bool empty = false;
        int one = 0;

        cli->ahead = &ahead[i];
        if (status >= 0)
            one = check_one(cli, names[i], stray, table, &empty, err);
        status = one != LATER_OK ? one : status;
        cli->ahead = NULL;
        ahead_clear(&ahead[i]);
        if (empty && cli->args.count > 0)
            queue_list_warn(cli, names[i]);
    }
    return status;
}

static int check_all(struct cli *cli, const struct queue_list *list, bool stray,
                     struct table *table, struct later_error *err)
{
    int status = LATER_OK;

    for (size_t i = 0; i < list->count && status >= 0; i += CHECK_TOGETHER) {
        size_t left = list->count - i;
        int some = check_some(cli, list->names + i, left < CHECK_TOGETHER ? left : CHECK_TOGETHER,
                              stray, table, err);

        status = some != LATER_OK ? some : status;
    }
    return status;
}

/* Finds queues that have keys but are missing from later:queues, as after a FLUSHALL. */
static int check_strays(struct cli *cli, const struct queue_list *known, struct table *table,
                        struct later_error *err)
{
    struct queue_list list = { 0 };
    struct later_error why;
    int status = LATER_OK;

    if (later_redis_is_cluster(later_call_redis(cli->client))) { /* each node has keys of its own */
        if (known->count == 0)
            cli_say(cli, "no queues: later:queues is empty; on a Cluster no others are looked for");
        return LATER_OK;
    }
    if (queue_list_strays(cli, known, &list, &why) == 0) {
        status = check_all(cli, &list, true, table, err);
        if (known->count + list.count == 0)
            cli_say(cli, "no queues: later:queues is empty, and no key is one of a queue");
    } else if (why.code == LATER_E_TOKEN) {
        cli_say(cli, "only the queues in later:queues were checked: %s", why.text);
    } else {
        *err = why;
        status = -1;
    }
    queue_list_free(&list);
    return status;
}

static int check_run(struct cli *cli, struct later_error *err)
{
    static const char *const headings[] = { "QUEUE", "CHECK", "RESULT", "NUMBERS", NULL };
    struct queue_list list = { 0 };
    struct table table;
    int status = queue_list_parts(cli, &list, err);

    cli_table(cli, &table, headings);
    table.whole = true;
    if (status == 0)
        status = check_all(cli, &list, false, &table, err);
    if (status >= 0 && cli->args.count == 0) {
        int strays = check_strays(cli, &list, &table, err);

        if (strays >= 0 && check_saved(cli, &list, &table, err) < 0)
            strays = -1;
        status = strays != LATER_OK ? strays : status;
    }
    if (status >= 0) {
        int lost = check_lost(cli, cli->args.count ? &list : NULL, &table, err);

        status = lost != LATER_OK ? lost : status;
    }
    table_end(&table);
    queue_list_free(&list);
    return status;
}

static const struct args_option check_options[] = {
    { "acknowledge", 0, NULL, "then forget which writes Redis has lost so far" },
    { NULL, 0, NULL, NULL },
};

const struct command command_check = {
    .name = "check",
    .usage = "[Q...]",
    .brief = "Check that no job is lost and none exists twice",
    .more = "For each queue and each shard: jobs that came (pushed, adopted) are jobs that went\n"
            "(done, cancelled …) and jobs that are there; the sets have as many members as there\n"
            "are jobs and those not yet adopted; each member is in only one set and has its\n"
            "document, each document is in a set, each record has its job, there is at most one\n"
            "wake. Without Q also: each queue that has jobs is in later:queues, and which saved\n"
            "searches are stale, which breaks nothing. Also, for a day: whether a laterd has\n"
            "noticed that Redis has lost writes.\n"
            "Works on queues in use. The status is 1 if one of these does not hold.\n",
    .example = "later check\n",
    .options = check_options,
    .max = -1,
    .run = check_run,
};
