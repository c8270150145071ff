/* events.c: `later events` tells of what ends, as it ends. */
#include "base/clock.h"
#include "base/names.h"
#include "base/printable.h"
#include "commands.h"
#include "job/filter.h"
#include "job/json.h"
#include "output/jsonl.h"
#include "queue/event.h"
#include "queue_list.h"
#include "see/bookmark.h"
#include "text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENTRIES   10    /* of a queue in one answer */
#define PAUSE     0.1   /* seconds between two looks that find nothing, */
#define EACH      0.005 /* or this for each queue: 200 commands a second */
#define LOOK      2.0   /* between looks for new queues, and for streams that have begun anew */
#define AWAY      1.0   /* between tries while Redis is away */
#define PARTS_MAX 4096

/* A queue or a shard, and what was told of it. */
struct part {
    struct following *all;
    struct later_keys keys;
    uint64_t last;  /* the number of the last end that was told, or is not asked for; */
    bool known;     /* it is known, */
    bool all_after; /* and all after it are asked for, so what is not there is missed */
    double since;   /* earlier ends are not asked for */
};

struct following {
    struct cli *cli;
    struct later_filter *filter;
    struct later_names parts; /* owned, as each of them is: answers point to them */
    struct bookmark bookmark;
    int64_t most; /* ends to tell of; 0 = no limit */
    int64_t told;
    bool more; /* there was more than fits in an answer */
    struct table table;
    struct later_error err; /* of an answer */
};

/* --- telling --- */

enum { ID, TYPE, ENDING, STATE, KIND, ATTEMPT, MS, WAITED, MEMBERS };

/* Prints a cell: a JSON string, or another value as it is written. */
static void events_cell(struct following *all, const struct later_json_member *member)
{
    char text[256];
    size_t len = 0;

    if (!member->value || member->len == 0 || strncmp(member->value, "null", 4) == 0) {
        table_none(&all->table);
        return;
    }
    if (*member->value == '"')
        len = later_json_text(member->value, member->len, text, sizeof text - 1);
    else
        len = (size_t)snprintf(text, sizeof text, "%.*s", (int)member->len, member->value);
    text[len < sizeof text - 1 ? len : sizeof text - 1] = '\0';
    if (all->cli->out_terminal)
        later_make_printable(text);
    table_text(&all->table, PLAIN, text);
}

static void events_add_row(struct part *part, const struct later_event_entry *entry,
                           const struct later_json_member *members)
{
    static const int order[] = { TYPE, ID, ENDING, STATE, ATTEMPT, MS, WAITED };
    struct table *table = &part->all->table;
    char text[256];

    table_time(table, PLAIN, entry->at);
    table_text(table, PLAIN, part->keys.queue);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        events_cell(part->all, &members[order[i]]);
    snprintf(text, sizeof text, "%s", entry->host);
    if (part->all->cli->out_terminal)
        later_make_printable(text);
    table_text(table, PLAIN, text);
}

/* Begins an object with the queue, and the shard. */
static void events_begin_json(struct jsonl *json, const struct part *part)
{
    const char *slash = strchr(part->keys.queue, '/');
    later_queue_name whole;

    later_shard_whole(whole, part->keys.queue);
    jsonl_begin(json, stdout);
    jsonl_text(json, "queue", whole);
    if (slash)
        jsonl_raw(json, "shard", slash + 1);
}

static void events_print_json(const struct part *part, const struct later_event_entry *entry,
                              const struct later_json_member *members)
{
    struct jsonl json;

    events_begin_json(&json, part);
    jsonl_int(&json, "n", (int64_t)part->last);
    for (int i = 0; i < MEMBERS; i++) {
        if (members[i].value)
            jsonl_foreign(&json, members[i].name, members[i].value, members[i].len);
    }
    jsonl_add(&json, "at:%f host:%s", entry->at, entry->host);
    jsonl_end(&json);
}

/* Says that ends are missing. count: how many; 0: nobody knows. */
static void events_say_missed(const struct part *part, uint64_t count)
{
    struct cli *cli = part->all->cli;
    struct jsonl json;

    if (cli->json) {
        events_begin_json(&json, part);
        jsonl_add(&json, "missed:%f", count > 0 ? (double)count : NAN);
        jsonl_end(&json);
    } else if (count > 0) {
        cli_say(cli, "queue %s: missed %" PRIu64 " ends, which are no longer kept",
                part->keys.queue, count);
    } else {
        cli_say(cli,
                "queue %s: its ends are counted anew: it was forgotten, or Redis has lost some",
                part->keys.queue);
    }
}

/* Tells of one end, if it is asked for. It is a line of JSON, unless another program wrote it. */
static void events_tell(struct part *part, const struct later_event_entry *entry, const char *line,
                        size_t len)
{
    struct later_json_member members[MEMBERS] = {
        [ID] = { .name = "id" },         [TYPE] = { .name = "type" },
        [ENDING] = { .name = "ending" }, [STATE] = { .name = "state" },
        [KIND] = { .name = "kind" },     [ATTEMPT] = { .name = "attempt" },
        [MS] = { .name = "ms" },         [WAITED] = { .name = "waited" },
    };
    const struct later_filter_job job = { .state = "", .document = line, .document_len = len };
    struct following *all = part->all;
    struct later_error ignored;

    if (!later_filter_meets(all->filter, &job) ||
        later_json_scan(line, len, members, MEMBERS, &ignored) < 0)
        return;
    if (all->cli->json)
        events_print_json(part, entry, members);
    else
        events_add_row(part, entry, members);
    fflush(stdout); /* whoever ends us leaves no half line */
    all->told++;
}

/* Is another end asked for? */
static bool events_wants(const struct following *all)
{
    return all->most == 0 || all->told < all->most;
}

static void events_tell_entry(struct part *part, const struct later_event_entry *entry)
{
    uint64_t number = entry->first;
    const char *line;
    size_t at = 0, len;

    if (part->all_after && entry->first > part->last + 1)
        events_say_missed(part, entry->first - part->last - 1);
    part->all_after = true;
    while ((line = later_event_next(entry, &at, &len)) && events_wants(part->all)) {
        if (number > part->last) {
            part->last = number;
            if (entry->at >= part->since)
                events_tell(part, entry, line, len);
        }
        number++;
    }
}

/* --- asking --- */

static bool events_answered(struct part *part, const struct later_answer *answer)
{
    struct following *all = part->all;

    if (answer->outcome == LATER_ANSWERED)
        return true;
    if (all->err.code == LATER_OK)
        (void)later_call_check(answer, &all->err);
    return false;
}

static void events_take(void *arg, struct later_answer *answer)
{
    struct part *part = arg;
    struct later_event_entry entry;

    if (!events_answered(part, answer))
        return;
    for (size_t i = 0; i < later_reply_count(answer->reply) && events_wants(part->all); i++) {
        part->all->more = part->all->more || i + 1 == ENTRIES;
        if (later_event_entry(later_reply_at(answer->reply, i), &entry))
            events_tell_entry(part, &entry);
    }
}

/* The last entry: where a reader begins, or whether the numbers have begun anew. */
static void events_take_last(void *arg, struct later_answer *answer)
{
    struct part *part = arg;
    struct later_event_entry entry = { .last = 0 };

    if (!events_answered(part, answer))
        return;
    if (later_reply_count(answer->reply) &&
        !later_event_entry(later_reply_at(answer->reply, 0), &entry))
        return;
    if (part->known && entry.last >= part->last)
        return;
    if (part->known)
        events_say_missed(part, 0);
    part->last = entry.last;
    part->known = part->all_after = true;
}

/* Asks something of all parts in one round trip. */
static int events_ask_all(struct following *all, bool last, struct later_error *err)
{
    struct later_client *client = all->cli->client;
    struct later_error why;
    int ok = cli_ping(all->cli, err); /* it connects anew where needed */
    int came;

    for (uint32_t i = 0; ok == 0 && i < all->parts.count; i++) {
        struct part *part = all->parts.items[i];
        struct later_command cmd = { 0 };

        if (last)
            later_events_ask_last(&cmd, &part->keys);
        else
            later_events_ask(&cmd, &part->keys, part->last, ENTRIES);
        ok = later_call_add(client, &cmd, last ? events_take_last : events_take, part, err);
    }
    came = later_call_drain(client, ok == 0 ? err : &why);
    why = all->err;
    all->err.code = LATER_OK; /* for the next round */
    if (ok == 0 && came == 0 && why.code != LATER_OK) {
        *err = why;
        return -1;
    }
    return came < 0 ? -1 : ok;
}

/* --- the queues --- */

static int events_add(struct following *all, const char *queue, const struct part *as,
                      struct later_error *err)
{
    struct part *part;

    if (all->parts.count == PARTS_MAX)
        return later_fail(err, LATER_E_USAGE, "more than %d queues and shards; name some by -q",
                          PARTS_MAX);
    part = malloc(sizeof *part);
    if (!part)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    *part = *as;
    part->all = all;
    later_keys_init(&part->keys, later_call_prefix(all->cli->client), queue);
    bookmark_find(&all->bookmark, queue, &part->last);
    if (later_names_add(&all->parts, part->keys.queue, part))
        return 0;
    free(part);
    return later_fail(err, LATER_E_SYSTEM, "no memory");
}

/* Adds those that are new, to be read as `as` says. */
static int events_find(struct following *all, const struct part *as, struct later_error *err)
{
    struct queue_list list = { 0 };
    int ok = queue_list_parts(all->cli, &list, err);

    for (size_t i = 0; ok == 0 && i < list.count; i++) {
        if (!later_names_find(&all->parts, list.names[i]))
            ok = events_add(all, list.names[i], as, err);
    }
    queue_list_free(&list);
    return ok;
}

/* Finds the queues, and where each of them begins: at its bookmark, at a time, or now. */
static int events_begin(struct following *all, struct later_error *err)
{
    bool since = args_text(&all->cli->args, "since");
    struct part as = { .known = all->bookmark.found || since, .all_after = all->bookmark.found };
    double seconds = 0, now;

    if (cli_duration(all->cli, "since", &seconds, err) < 0 ||
        (since && cli_clock(all->cli, &now, err) < 0))
        return -1;
    as.since = since ? now - seconds : 0;
    if (events_find(all, &as, err) < 0)
        return -1;
    return as.known ? 0 : events_ask_all(all, true, err);
}

/* --- the loop --- */

/* What was printed has arrived before the bookmark says so. */
static int events_keep(struct following *all, struct later_error *err)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        return later_fail(err, LATER_E_SYSTEM, "cannot write to standard output");
    for (uint32_t i = 0; i < all->parts.count; i++) {
        const struct part *part = all->parts.items[i];

        if (bookmark_set(&all->bookmark, part->keys.queue, part->last, err) < 0)
            return -1;
    }
    return bookmark_write(&all->bookmark, err);
}

/* One look at all queues; and at times, at which there are. */
static int events_look(struct following *all, double *next, struct later_error *err)
{
    static const struct part fresh = { .known = true, .all_after = true };

    if (later_clock() >= *next) {
        if (events_find(all, &fresh, err) < 0 || events_ask_all(all, true, err) < 0)
            return -1;
        *next = later_clock() + LOOK;
    }
    all->more = false;
    return events_ask_all(all, false, err);
}

/* Who sees nothing may wait for what nobody tells. A person is told at once, others at the end. */
static void events_hint(const struct following *all)
{
    const char *queue;
    uint64_t last = 0;
    size_t at = 0;

    for (uint32_t i = 0; i < all->parts.count; i++)
        last |= ((const struct part *)all->parts.items[i])->last;
    if (last == 0)
        cli_say(all->cli,
                "%s has told of an end yet; those tell whose laterd has the option "
                "queues.events_kept",
                args_text(&all->cli->args, "queue") ? "none of these queues" : "no queue");
    while (last == 0 && (queue = args_next(&all->cli->args, "queue", &at)))
        queue_list_warn(all->cli, queue);
}

/* Once it has begun it goes on, however long Redis is away. */
static int events_follow(struct following *all, double until, struct later_error *err)
{
    double next = later_clock() + LOOK;
    bool away = false, hinted = false;

    while (events_wants(all)) {
        int ok = events_look(all, &next, err);
        double pause = fmax(PAUSE, all->parts.count * EACH);

        if (ok < 0 && err->code != LATER_E_REDIS)
            return -1;
        if (away != (ok < 0))
            cli_say(all->cli, ok < 0 ? "%s; trying again" : "Redis is back", err->text);
        away = ok < 0;
        if (events_keep(all, err) < 0)
            return -1;
        if (!away && all->more)
            continue;
        if (!away && !hinted && (all->cli->out_terminal || later_clock() >= until)) {
            events_hint(all);
            hinted = true;
        }
        if (later_clock() >= until)
            return 0;
        later_sleep(fmin(away ? AWAY : pause, until - later_clock()));
    }
    return 0;
}

/* --- the command --- */

/* The queues are given by -q; what lists queues reads words. */
static void events_take_queues(struct cli *cli, char *words[ARGS_GIVEN_MAX + 1])
{
    const char *queue;
    size_t at = 0;

    cli->args.words = words;
    cli->args.count = 0;
    while ((queue = args_next(&cli->args, "queue", &at)))
        words[cli->args.count++] = (char *)queue;
    words[cli->args.count] = NULL;
}

static int events_read_options(struct following *all, double *until, struct later_error *err)
{
    struct cli *cli = all->cli;
    const char *type, *file = args_text(&cli->args, "bookmark");
    size_t at = 0;

    *until = INFINITY;
    if (args_text(&cli->args, "timeout") && cli_duration(cli, "timeout", until, err) < 0)
        return -1;
    if (file && args_text(&cli->args, "since"))
        return later_fail(err, LATER_E_USAGE,
                          "--since and --bookmark both say where to begin; give one");
    *until += later_clock();
    if (cli_number(cli, "number", 1, INT64_MAX, &all->most, err) < 0)
        return -1;
    if (!all->filter)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    while ((type = args_next(&cli->args, "type", &at))) {
        if (later_filter_add(all->filter, "type", type, err) < 0)
            return -1;
    }
    return file ? bookmark_read(&all->bookmark, file, err) : 0;
}

static int events_run(struct cli *cli, struct later_error *err)
{
    static const char *const headings[] = { "AT",      "QUEUE", "TYPE",   "ID",   "ENDING", "STATE",
                                            "ATTEMPT", "MS",    "WAITED", "HOST", NULL };
    struct following all = { .cli = cli, .filter = later_filter_new() };
    char *words[ARGS_GIVEN_MAX + 1];
    double until;
    int ok;

    events_take_queues(cli, words);
    table_begin(&all.table, false, false, headings); /* each row at once, on a terminal too */
    ok = events_read_options(&all, &until, err);
    if (ok == 0)
        ok = events_begin(&all, err);
    if (ok == 0)
        ok = events_follow(&all, until, err);
    table_end(&all.table);
    later_names_free(&all.parts, free);
    bookmark_free(&all.bookmark);
    later_filter_free(all.filter);
    return ok;
}

/* Without an end only a person can end it. */
static const char *events_lack(const struct cli *cli)
{
    return args_text(&cli->args, "timeout") ? NULL : "timeout";
}

static const struct args_option events_options[] = {
    { "queue", 'q', "Q", "of this queue; may be given again (all)" },
    { "type", 0, "TYPE", "of this type: * and ? stand for others; may be given again" },
    { "number", 'n', "N", "end after so many" },
    { "since", 0, "DURATION", "begin with those that ended so long ago, as far as they are kept" },
    { "bookmark", 0, "FILE", "go on where FILE says, and keep it there" },
    { "timeout", 0, "DURATION", "end after so long (never); 0: what is there now" },
    { 0 },
};

const struct command command_events = {
    .name = "events",
    .usage = "[-q Q...] [--type TYPE...] [--since DURATION | --bookmark FILE] [-n N] "
             "[--timeout DURATION]",
    .brief = "Tell of the jobs that end, as they end",
    .more =
        "Of queues whose laterd has the option queues.events_kept. A line for each attempt that\n"
        "has ended: when, queue, type, id, how it ended, what the job is now, the number of the\n"
        "attempt, how long it took, how long the job had waited, on which host. How many were\n"
        "missed is said; with --json it is a line of its own.\n",
    .example = "later events -q mail --json\nlater events --bookmark /var/lib/app/ends --json\n",
    .options = events_options,
    .max = 0,
    .by_hand = events_lack,
    .run = events_run,
};
