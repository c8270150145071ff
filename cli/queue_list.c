/* queue_list.c: the names of the queues that a command works on. */
#include "queue_list.h"

#include "base/grow.h"
#include "queue/inspect.h"

#include <stdlib.h>
#include <string.h>

#define NAMES_MAX 100000  /* names, before duplicates are removed */
#define SCANS_MAX 1000000 /* pages of keys: a thousand million keys */

int queue_list_add(struct queue_list *list, const char *name, struct later_error *err)
{
    if (!later_grow(&list->names, &list->room, list->count, sizeof *list->names))
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    snprintf(list->names[list->count++], sizeof *list->names, "%s", name);
    return 0;
}

bool queue_list_has(const struct queue_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->names[i], name) == 0)
            return true;
    }
    return false;
}

void queue_list_free(struct queue_list *list)
{
    free(list->names);
    *list = (struct queue_list){ 0 };
}

/* --- in order, each once --- */

/* Returns -1 if the name is not that of a shard. */
static long shard_of(const char *name)
{
    const char *slash = strchr(name, '/');

    return slash ? strtol(slash + 1, NULL, 10) : -1;
}

/* Orders a queue before its shards, and shards by number. */
static int queue_list_by_name(const void *a, const void *b)
{
    later_queue_name one, other;
    long difference = shard_of(a) - shard_of(b);
    int order;

    later_shard_whole(one, a);
    later_shard_whole(other, b);
    order = strcmp(one, other);
    return order ? order : (difference > 0) - (difference < 0);
}

static void queue_list_put_in_order(struct queue_list *list)
{
    size_t kept = 0;

    if (list->count > 0)
        qsort(list->names, list->count, sizeof *list->names, queue_list_by_name);
    for (size_t i = 0; i < list->count; i++) {
        if (kept == 0 || strcmp(list->names[kept - 1], list->names[i]) != 0)
            memmove(list->names[kept++], list->names[i], sizeof *list->names);
    }
    list->count = kept;
}

/* --- from Redis --- */

int queue_list_each(struct cli *cli, struct queue_list *list, struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    int ok = 0;

    if (!cli_client(cli, err))
        return -1;
    later_inspect_queues(&cmd, later_call_prefix(cli->client));
    reply = cli_call(cli, &cmd, err);
    if (!reply)
        return -1;
    for (size_t i = 0; ok == 0 && i < later_reply_count(reply); i++) {
        const char *name = later_reply_text_at(reply, i);

        if (later_key_shard_valid(name)) /* somebody else may have written into our set */
            ok = queue_list_add(list, name, err);
    }
    later_reply_free(reply);
    if (ok == 0)
        queue_list_put_in_order(list);
    return ok;
}

/* Reads the names from the command line. */
static int queue_list_read_named(struct cli *cli, struct queue_list *list, struct later_error *err)
{
    for (int i = 0; i < cli->args.count; i++) {
        /* A name that is too long must not be cut to a good one. */
        if (!later_key_shard_valid(cli->args.words[i]))
            return later_call_whole(cli->args.words[i], err);
        if (queue_list_add(list, cli->args.words[i], err) < 0)
            return -1;
    }
    return 0;
}

int queue_list_known(struct cli *cli, struct queue_list *list, struct later_error *err)
{
    if (queue_list_each(cli, list, err) < 0)
        return -1;
    for (size_t i = 0; i < list->count; i++)
        list->names[i][strcspn(list->names[i], "/")] = '\0';
    queue_list_put_in_order(list);
    return 0;
}

int queue_list_asked(struct cli *cli, struct queue_list *list, struct later_error *err)
{
    const char *queue = args_text(&cli->args, "queue");

    if (!queue)
        return queue_list_known(cli, list, err);
    if (!later_key_shard_valid(queue)) /* a name that is too long must not be cut to a good one */
        return later_call_whole(queue, err);
    return queue_list_add(list, queue, err);
}

int queue_list_find(struct cli *cli, struct queue_list *list, struct later_error *err)
{
    return cli->args.count > 0 ? queue_list_read_named(cli, list, err)
                               : queue_list_known(cli, list, err);
}

static const char *queue_list_nearest(const struct queue_list *list, const char *queue)
{
    const char **names = calloc(list->count + 1, sizeof *names);
    const char *nearest;

    for (size_t i = 0; names && i < list->count; i++)
        names[i] = list->names[i];
    nearest = names ? args_nearest(queue, names, list->count) : NULL;
    free(names);
    return nearest;
}

void queue_list_warn(struct cli *cli, const char *queue)
{
    struct queue_list list = { 0 };
    struct later_error ignored;
    later_queue_name whole;
    char meant[ARGS_MEANT];

    if (!queue || !later_key_shard_valid(queue))
        return;
    later_shard_whole(whole, queue);
    if (queue_list_known(cli, &list, &ignored) == 0 && !queue_list_has(&list, whole))
        cli_say(cli, "no queue %s%s", whole,
                args_meant(meant, queue_list_nearest(&list, whole), ""));
    queue_list_free(&list);
}

/* --- from the names of keys --- */

/* Finds the queue's name in a key, `later:{NAME}:ready`. Returns false if there is none. */
static bool name_in(const char *key, later_queue_name name)
{
    const char *from = strchr(key, '{'), *to = from ? strchr(from, '}') : NULL;
    size_t len = to ? (size_t)(to - from) - 1 : 0;

    if (len == 0 || len >= sizeof(later_queue_name))
        return false;
    memcpy(name, from + 1, len);
    name[len] = '\0';
    /* The script *probe* makes keys of this queue for a moment. */
    return later_key_shard_valid(name) && strcmp(name, "laterd.probe") != 0;
}

static int take_keys(struct queue_list *list, const struct later_reply *keys,
                     struct later_error *err)
{
    for (size_t i = 0; i < later_reply_count(keys); i++) {
        later_queue_name name;

        if (name_in(later_reply_text_at(keys, i), name) && queue_list_add(list, name, err) < 0)
            return -1;
    }
    if (list->count > NAMES_MAX) /* each queue has several keys */
        queue_list_put_in_order(list);
    return 0;
}

static void queue_list_leave_out(struct queue_list *list, const struct queue_list *known)
{
    size_t kept = 0;

    for (size_t i = 0; i < list->count; i++) {
        if (!queue_list_has(known, list->names[i]))
            memmove(list->names[kept++], list->names[i], sizeof *list->names);
    }
    list->count = kept;
}

int queue_list_strays(struct cli *cli, const struct queue_list *known, struct queue_list *list,
                      struct later_error *err)
{
    char cursor[32] = "0";

    for (uint64_t pages = 0; pages < SCANS_MAX; pages++) {
        struct later_command cmd = { 0 };
        struct later_reply *reply;
        int ok;

        later_inspect_names(&cmd, later_call_prefix(cli->client), cursor);
        reply = cli_call(cli, &cmd, err);
        ok = reply ? take_keys(list, later_inspect_scanned(reply, cursor), err) : -1;
        later_reply_free(reply);
        if (ok < 0)
            return -1;
        if (strcmp(cursor, "0") == 0) {
            queue_list_put_in_order(list);
            queue_list_leave_out(list, known);
            return 0;
        }
    }
    return later_fail(err, LATER_E_REDIS, "Redis does not finish listing its keys");
}

int queue_list_parts(struct cli *cli, struct queue_list *list, struct later_error *err)
{
    struct queue_list wholes = { 0 };
    int ok = queue_list_find(cli, &wholes, err);

    for (size_t i = 0; ok == 0 && i < wholes.count; i++) {
        struct whole whole;

        ok = whole_find(cli, wholes.names[i], &whole, err);
        for (size_t n = 0; ok == 0 && n < whole.count; n++)
            ok = queue_list_add(list, whole.parts[n].queue, err);
    }
    queue_list_free(&wholes);
    if (ok < 0 || cli->args.count > 0)
        return ok;
    return queue_list_each(cli, list, err); /* shards may outlive their plan */
}
