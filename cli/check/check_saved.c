/* check_saved.c: can the searches that are saved be used, and are their queues there? */
#include "check/check.h"

#include "choose/saved.h"
#include "job/filter.h"
#include "output/jsonl.h"

#include <stdlib.h>
#include <string.h>

/* What is known of one. */
struct saved_search {
    const char *name;
    const char *queue; /* NULL: it is of all */
    const char *stale; /* why it is of no use; NULL: it can be used */
};

/* Reads the conditions as a search does; text is cut into its lines. */
static int check_saved_read(struct saved_search *search, char *text, struct later_filter *filter,
                            struct later_error *err)
{
    int ok = 0;

    for (char *rest, *line = strtok_r(text, "\n", &rest); ok == 0 && line;
         line = strtok_r(NULL, "\n", &rest)) {
        char *value = strchr(line, ':');

        if (!value)
            return later_fail(err, LATER_E_DATA, "%.40s is no condition", line);
        *value++ = '\0';
        if (strcmp(line, "queue") == 0)
            search->queue = value;
        if (!saved_is_beside(line))
            ok = later_filter_add(filter, line, value, err);
    }
    return ok;
}

static void check_saved_tell_row(struct table *table, const struct saved_search *search)
{
    table_text(table, PLAIN, search->queue ? search->queue : "-");
    table_text(table, PLAIN, "search");
    table_text(table, YELLOW, "stale");
    table_print(table, PLAIN, "%s: %s; later search --unsave drops it", search->name,
                search->stale);
}

static int check_saved_one(const struct cli *cli, const struct queue_list *queues, const char *name,
                           const char *text, struct table *table, struct later_error *err)
{
    struct saved_search search = { .name = name };
    struct later_filter *filter = later_filter_new();
    char *copy = filter ? strdup(text) : NULL;
    struct later_error why;

    if (!copy) {
        later_filter_free(filter);
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    }
    if (check_saved_read(&search, copy, filter, &why) < 0)
        search.stale = why.text;
    else if (search.queue && !queue_list_has(queues, search.queue))
        search.stale = "its queue is not there";
    if (search.stale && cli->json)
        jsonl_line(stdout, "queue:%s check:search ok:%c search:%s stale:%s", search.queue, true,
                   search.name, search.stale);
    else if (search.stale)
        check_saved_tell_row(table, &search);
    later_filter_free(filter);
    free(copy);
    return 0;
}

int check_saved(struct cli *cli, const struct queue_list *queues, struct table *table,
                struct later_error *err)
{
    struct later_reply *reply = saved_read(cli, err);
    int ok = 0;

    if (!reply)
        return err->code == LATER_E_TOKEN ? 0 : -1;
    for (size_t i = 0; ok == 0 && i + 1 < later_reply_count(reply); i += 2)
        ok = check_saved_one(cli, queues, later_reply_text_at(reply, i),
                             later_reply_text_at(reply, i + 1), table, err);
    later_reply_free(reply);
    return ok;
}
