/* seek.c: asks EXISTS for many keys, then for parts of them. */
#include "link/seek.h"

#include <stdlib.h>
#include <string.h>

#define KEYS_MAX 2000 /* of one command, which takes Redis some hundredths of a millisecond */
#define PARTS    16   /* that a part with something is split into */
#define FEW      4    /* queues that are not split further */

/* Some consecutive queues. */
struct part {
    struct seek *seek;
    size_t from, count;
    size_t there; /* how many of their keys exist */
    bool settled; /* it needs no further question */
};

/* One round asks about all its parts that are not settled. */
struct round {
    struct part *parts;
    size_t count, room;
};

struct seek {
    struct seek_options options;
    struct link *link;
    uint32_t *queues;
    struct round round;
    size_t pending; /* answers to come, plus one while they are asked for */
    size_t open;    /* answers to come */
    bool failed;
    bool freed; /* nobody is told; the last answer frees it */
};

static bool seek_add(struct round *round, struct part part)
{
    if (round->count == round->room) {
        size_t room = round->room ? round->room * 2 : PARTS;
        struct part *parts = realloc(round->parts, room * sizeof *parts);

        if (!parts)
            return false;
        round->parts = parts;
        round->room = room;
    }
    round->parts[round->count++] = part;
    return true;
}

/* Splits some queues into parts of at most `size`. */
static bool seek_split(struct round *round, size_t from, size_t count, size_t size)
{
    bool ok = true;

    for (size_t at = 0; at < count && ok; at += size)
        ok = seek_add(round, (struct part){ .from = from + at,
                                            .count = count - at < size ? count - at : size });
    return ok;
}

/* Reports what was found, which is stored in place of what was looked for. */
static void seek_end(struct seek *seek)
{
    size_t found = 0;

    for (size_t i = 0; i < seek->round.count; i++) {
        const struct part *part = &seek->round.parts[i];

        memmove(&seek->queues[found], &seek->queues[part->from],
                part->count * sizeof *seek->queues);
        found += part->count;
    }
    seek->options.done(seek->options.arg, !seek->failed, seek->queues, found);
}

/* --- a round --- */

static void seek_answered(struct seek *seek);

static void seek_destroy(struct seek *seek)
{
    free(seek->queues);
    free(seek->round.parts);
    free(seek);
}

/* On a Cluster, where one answer settles each part, answers may come in another order. */
static void seek_on_answer(void *arg, struct later_answer *answer)
{
    struct part *part = arg;
    struct seek *seek = part->seek;

    seek->open--;
    if (answer->outcome == LATER_ANSWERED)
        part->there = (size_t)later_reply_int(answer->reply);
    else
        seek->failed = true;
    if (!seek->freed)
        seek_answered(seek);
    else if (seek->open == 0)
        seek_destroy(seek);
}

static bool seek_ask_part(struct seek *seek, struct part *part)
{
    const struct seek_options *options = &seek->options;
    struct later_command cmd = { 0 };

    part->seek = seek;
    later_command_open(&cmd, part->count * options->keys, "EXISTS");
    for (size_t i = 0; i < part->count * options->keys; i++)
        later_command_text(&cmd,
                           options->key(options->arg, seek->queues[part->from + i / options->keys],
                                        (unsigned)(i % options->keys)));
    if (link_send(seek->link, &cmd, LINK_TIMEOUT, seek_on_answer, part) < 0)
        return false;
    seek->open++;
    return true;
}

static void seek_ask_all(struct seek *seek)
{
    seek->pending = 1;
    for (size_t i = 0; i < seek->round.count; i++) {
        if (seek->round.parts[i].settled)
            continue;
        seek->pending++;
        if (!seek_ask_part(seek, &seek->round.parts[i])) {
            seek->failed = true;
            seek->pending--;
        }
    }
    seek_answered(seek);
}

/* Splits the parts that have something, until enough is found. Returns whether there is anything to
 * ask about. */
static bool refine(struct seek *seek, struct round *next)
{
    size_t sure = 0;
    bool asks = false, ok = true;

    for (size_t i = 0; i < seek->round.count && ok && sure < seek->options.most; i++) {
        struct part part = seek->round.parts[i];

        if (!part.settled && part.there == 0)
            continue;
        sure += (part.there + seek->options.keys - 1) / seek->options.keys;
        part.settled =
            part.settled || part.count <= FEW || part.there == part.count * seek->options.keys;
        asks = asks || !part.settled;
        ok = part.settled
                 ? seek_add(next, part)
                 : seek_split(next, part.from, part.count, (part.count + PARTS - 1) / PARTS);
    }
    seek->failed = seek->failed || !ok;
    return asks && !seek->failed;
}

/* An answer has come; or all questions have been asked. */
static void seek_answered(struct seek *seek)
{
    struct link *link = seek->link; /* the end may free us */
    struct round next = { 0 };
    bool more;

    if (--seek->pending > 0)
        return;
    more = refine(seek, &next);
    free(seek->round.parts);
    seek->round = next;
    if (!more) {
        seek_end(seek);
        return;
    }
    seek_ask_all(seek);
    link_flush(link);
}

struct seek *seek_new(struct link *link, const struct seek_options *options, const uint32_t *queues,
                      size_t count)
{
    struct seek *seek = link_is_up(link) ? calloc(1, sizeof *seek) : NULL;
    bool apart = later_redis_is_cluster(link_redis(link));

    if (!seek)
        return NULL;
    *seek = (struct seek){ .options = *options, .link = link };
    seek->queues = malloc((count ? count : 1) * sizeof *queues);
    if (!seek->queues ||
        !seek_split(&seek->round, 0, count, apart ? 1 : KEYS_MAX / options->keys)) {
        seek_free(seek);
        return NULL;
    }
    memcpy(seek->queues, queues, count * sizeof *queues);
    return seek;
}

void seek_ask(struct seek *seek)
{
    seek_ask_all(seek);
}

void seek_free(struct seek *seek)
{
    if (!seek)
        return;
    seek->freed = true;
    if (seek->open == 0)
        seek_destroy(seek);
}
