/* patterns.c: the names in later:queues. */
#include "queues/patterns.h"

#include "base/clock.h"
#include "base/names.h"
#include "fault.h"
#include "link/seek.h"
#include "log.h"
#include "redis/key.h"
#include "timer.h"

#include <stdlib.h>
#include <string.h>

#define LOOK_SECONDS 0.3
#define READ_SECONDS 10.0 /* one may have come and another gone */
#define PAGE         500  /* names that Redis is asked for at once */
#define SOUGHT       1000 /* queues that a look asks about, */
#define SOUGHT_APART 250  /* on a Cluster, where each costs a command */

struct seen {
    char name[LATER_QUEUE_MAX + 1];
    unsigned reading; /* in which it was seen last */
    bool used;        /* one of its keys was there */
    bool waits;       /* it is wanted if it is used */
};

/* One of these is there if a queue has jobs, also plain ones, or schedules, or shards that may. */
static const enum later_key used_keys[] = { LATER_KEY_JOBS, LATER_KEY_READY, LATER_KEY_DELAYED,
                                            LATER_KEY_CRONTAB, LATER_KEY_SHARDS };

struct patterns {
    patterns_found_fn *found;
    void *arg;
    struct link *link;
    struct timer *look;
    char key[LATER_KEY_MAX];
    bool wanted;
    bool asked;                /* one call at a time */
    void (*read)(void *arg);   /* somebody waits for what is read now; NULL: nobody */
    bool before;               /* the reading began before the request, so another one follows */
    unsigned reading;          /* the number of the present one, or of the last */
    long long asking, counted; /* how many there were, by SCARD: before this one, before the last */
    double read_at;            /* later_clock() */
    struct later_names seen;
    struct seek *seek;
    uint32_t sought; /* the next one in turn */
    char prefix[LATER_PREFIX_MAX + 1];
    struct later_keys keys; /* of the queue whose keys were asked for last */
    struct fault full, refused;
};

/* --- what was seen --- */

/* If memory is out, the name is reported at the next reading. */
static void see(struct patterns *patterns, const char *name)
{
    struct seen *seen = later_names_find(&patterns->seen, name);

    if (seen) {
        seen->reading = patterns->reading;
        return;
    }
    if (!later_key_queue_valid(name))
        return; /* a shard; or of somebody else's making */
    if (patterns->seen.count == PATTERNS_SEEN) {
        fault_note(&patterns->full, LOG_WARN, "%s has more than %d names: further ones are ignored",
                   patterns->key, PATTERNS_SEEN);
        return;
    }
    seen = calloc(1, sizeof *seen);
    if (!seen)
        return;
    seen->reading = patterns->reading;
    strcpy(seen->name, name);
    if (!later_names_add(&patterns->seen, seen->name, seen)) {
        free(seen);
        return;
    }
    seen->waits = !patterns->found(patterns->arg, seen->name, false);
}

/* --- is it used? --- */

static const char *patterns_key_of(void *arg, uint32_t queue, unsigned k)
{
    struct patterns *patterns = arg;
    const struct seen *seen = patterns->seen.items[queue];

    if (strcmp(patterns->keys.queue, seen->name) != 0)
        later_keys_init(&patterns->keys, patterns->prefix, seen->name);
    return patterns->keys.name[used_keys[k]];
}

static void on_used(void *arg, bool ok, const uint32_t *found, size_t count)
{
    struct patterns *patterns = arg;

    (void)ok; /* the others are asked about again */
    for (size_t i = 0; i < count; i++) {
        struct seen *seen = patterns->seen.items[found[i]];

        seen->used = true;
        seen->waits = !patterns->found(patterns->arg, seen->name, true);
    }
    seek_free(patterns->seek);
    patterns->seek = NULL;
}

/* Lists queues that wait: the latest half, then others in turn. */
static size_t list_waiting(struct patterns *patterns, uint32_t *list, size_t most)
{
    uint32_t all = patterns->seen.count, latest = all;
    size_t count = 0;

    while (latest > 0 && count < most / 2) {
        const struct seen *seen = patterns->seen.items[--latest];

        if (seen->waits)
            list[count++] = latest;
    }
    for (uint32_t i = 0; i < latest && count < most; i++) {
        const struct seen *seen = patterns->seen.items[patterns->sought++ % latest];

        if (seen->waits)
            list[count++] = (patterns->sought - 1) % latest;
    }
    return count;
}

/* The numbers in a search are those of the list of names, which changes only between searches. */
static void seek_used(struct patterns *patterns)
{
    const struct seek_options options = { .key = patterns_key_of,
                                          .keys = sizeof used_keys / sizeof *used_keys,
                                          .most = SOUGHT,
                                          .done = on_used,
                                          .arg = patterns };
    bool apart = later_redis_is_cluster(link_redis(patterns->link));
    uint32_t list[SOUGHT];
    size_t count = list_waiting(patterns, list, apart ? SOUGHT_APART : SOUGHT);

    if (patterns->seek || count == 0)
        return;
    patterns->seek = seek_new(patterns->link, &options, list, count);
    if (patterns->seek)
        seek_ask(patterns->seek);
    link_flush(patterns->link);
}

static const char *patterns_stays(void *arg, void *item)
{
    const struct patterns *patterns = arg;
    struct seen *seen = item;

    if (seen->reading == patterns->reading)
        return seen->name;
    free(seen);
    return NULL;
}

static void forget_gone(struct patterns *patterns)
{
    uint32_t before = patterns->seen.count;

    later_names_sift(&patterns->seen, patterns_stays, patterns);
    if (patterns->seen.count == before)
        return;
    seek_free(patterns->seek); /* it has numbers of the list */
    patterns->seek = NULL;
    fault_over(&patterns->full);
}

/* --- reading --- */

static void patterns_ask_count(struct patterns *patterns);

/* Nothing is asked any more. Whoever waits is told, however it ended. */
static void patterns_end(struct patterns *patterns)
{
    void (*read)(void *arg) = patterns->read;

    if (!read)
        return;
    if (patterns->before) {
        patterns->before = false;
        patterns_ask_count(patterns);
        return;
    }
    patterns->read = NULL;
    read(patterns->arg);
}

static bool is_answer(struct patterns *patterns, const struct later_answer *answer)
{
    patterns->asked = false;
    if (answer->outcome != LATER_ANSWERED) {
        fault_judge(&patterns->refused, answer, LOG_WARN,
                    "redis refuses to say which queues there are, so patterns match none: %s",
                    answer->text);
        patterns_end(patterns);
    }
    return answer->outcome == LATER_ANSWERED;
}

static void transmit(struct patterns *patterns, struct later_command *cmd, later_answer_fn *fn)
{
    patterns->asked = link_send(patterns->link, cmd, LINK_TIMEOUT, fn, patterns) == 0;
    link_flush(patterns->link);
    if (!patterns->asked)
        patterns_end(patterns);
}

static void patterns_on_page(void *arg, struct later_answer *answer);

static void patterns_ask_page(struct patterns *patterns, const char *cursor)
{
    struct later_command cmd = { 0 };

    later_command_say(&cmd, "SSCAN %s %s COUNT %d", patterns->key, cursor, PAGE);
    transmit(patterns, &cmd, patterns_on_page);
}

static void patterns_on_page(void *arg, struct later_answer *answer)
{
    struct patterns *patterns = arg;
    const struct later_reply *names = later_reply_at(answer->reply, 1);
    const char *cursor = later_reply_text(later_reply_at(answer->reply, 0), NULL);

    if (!is_answer(patterns, answer))
        return;
    for (size_t i = 0; i < later_reply_count(names); i++)
        see(patterns, later_reply_text(later_reply_at(names, i), NULL));
    if (strcmp(cursor, "0") != 0) {
        patterns_ask_page(patterns, cursor);
        return;
    }
    /* Not before: the names are what it is about, not their number. */
    fault_over(&patterns->refused);
    forget_gone(patterns);
    patterns->counted = patterns->asking;
    patterns->read_at = later_clock();
    patterns_end(patterns);
}

static void patterns_on_count(void *arg, struct later_answer *answer)
{
    struct patterns *patterns = arg;

    if (!is_answer(patterns, answer))
        return;
    patterns->asking = later_reply_int(answer->reply);
    if (!patterns->read && patterns->asking == patterns->counted &&
        !fault_text(&patterns->refused) && later_clock() - patterns->read_at < READ_SECONDS)
        return;
    patterns->reading++;
    patterns_ask_page(patterns, "0");
}

static void patterns_ask_count(struct patterns *patterns)
{
    struct later_command cmd = { 0 };

    later_command_say(&cmd, "SCARD %s", patterns->key);
    transmit(patterns, &cmd, patterns_on_count);
}

static void patterns_on_look(void *arg)
{
    struct patterns *patterns = arg;

    timer_in(patterns->look, LOOK_SECONDS);
    if (!patterns->wanted || !link_is_up(patterns->link))
        return;
    if (!patterns->asked)
        patterns_ask_count(patterns);
    seek_used(patterns);
}

void patterns_read(struct patterns *patterns, void (*read)(void *arg))
{
    patterns->read = read;
    patterns->before = patterns->asked;
    if (!patterns->asked)
        patterns_ask_count(patterns);
}

/* --- */

void patterns_configure(struct patterns *patterns, const struct config *config)
{
    patterns->wanted = config_follows(config);
}

void patterns_each(struct patterns *patterns, patterns_found_fn *fn, void *arg)
{
    for (uint32_t i = 0; i < patterns->seen.count; i++) {
        struct seen *seen = patterns->seen.items[i];

        seen->waits = !fn(arg, seen->name, seen->used);
    }
}

const char *patterns_fault(const struct patterns *patterns)
{
    const char *refused = fault_text(&patterns->refused);

    return refused ? refused : fault_text(&patterns->full);
}

struct patterns *patterns_new(struct event_base *base, const struct config *config,
                              struct link *link, patterns_found_fn *found, void *arg)
{
    struct patterns *patterns = calloc(1, sizeof *patterns);

    if (!patterns)
        return NULL;
    *patterns = (struct patterns){ .found = found, .arg = arg, .link = link, .counted = -1 };
    later_key_queues(patterns->key, config->redis.prefix);
    strcpy(patterns->prefix, config->redis.prefix);
    patterns->look = timer_new(base, patterns_on_look, patterns);
    if (!patterns->look) {
        free(patterns);
        return NULL;
    }
    patterns_configure(patterns, config);
    timer_in(patterns->look, 0);
    return patterns;
}

void patterns_free(struct patterns *patterns)
{
    if (!patterns)
        return;
    timer_free(patterns->look);
    seek_free(patterns->seek);
    later_names_free(&patterns->seen, free);
    fault_free(&patterns->full);
    fault_free(&patterns->refused);
    free(patterns);
}
