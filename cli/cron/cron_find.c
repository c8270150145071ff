/* cron_find.c: finds a schedule by its name. */
#include "cron/cron.h"

#include "queue_list.h"

#include <stdio.h>
#include <string.h>

/* Looks for it in one queue. Returns 1; 0 if there is none, and then its state is ""; -1 with *err.
 */
static int cron_look(struct cli *cli, const char *queue, const char *name, struct cron_found *found,
                     struct later_error *err)
{
    char from[LATER_SCHEDULE_NAME_MAX + 2];
    struct later_command cmd = { 0 };
    struct later_crontab crontab;
    struct later_crontab_row row;
    struct later_reply *reply;

    if (cli_keys(cli, queue, &found->keys, err) < 0)
        return -1;
    snprintf(from, sizeof from, "=%s", name);
    later_crontab_look(&cmd, &found->keys, from, 1);
    reply = cli_call(cli, &cmd, err);
    if (!reply)
        return -1;
    later_crontab_looked(reply, &crontab);
    later_crontab_row(reply, 0, &row);
    found->now = crontab.now;
    snprintf(found->state, sizeof found->state, "%s", row.state);
    found->unread = (struct later_error){ 0 };
    later_schedule_read(&found->schedule, row.lines, &found->unread);
    later_reply_free(reply);
    return crontab.count > 0;
}

int cron_find(struct cli *cli, const char *name, struct cron_found *found, struct later_error *err)
{
    const char *queue = args_text(&cli->args, "queue");
    struct queue_list list = { 0 };
    int count = 0, status;

    if (!later_schedule_name_valid(name))
        return later_fail(err, LATER_E_USAGE, "%.80s is not the name of a schedule", name);
    status = queue_list_asked(cli, &list, err);
    for (size_t i = 0; status >= 0 && i < list.count; i++) {
        struct cron_found one;

        status = cron_look(cli, list.names[i], name, &one, err);
        if (status > 0 && count++ == 0)
            *found = one;
    }
    queue_list_free(&list);
    if (status < 0)
        return -1;
    if (count > 1)
        return later_fail(err, LATER_E_USAGE,
                          "several queues have a schedule %s; say which with -q", name);
    if (count == 1)
        return 0;
    queue_list_warn(cli, queue);
    return later_fail(err, LATER_E_NONE, "there is no schedule %s%s%s", name,
                      queue ? " in queue " : "", queue ? queue : "");
}

int cron_find_zone(struct cli *cli, const char *name, struct cron_found *found,
                   struct later_zone **zone, struct later_error *err)
{
    if (cron_find(cli, name, found, err) < 0)
        return -1;
    if (*found->unread.text) {
        *err = found->unread;
        return -1;
    }
    *zone = later_zone_open(later_schedule_zone(&found->schedule), err);
    return *zone ? 0 : -1;
}

/* In a definition it follows the empty line. */
struct later_reply *cron_find_document(struct cli *cli, const struct cron_found *found,
                                       const char *name, const char **document, size_t *len,
                                       struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    const char *text;

    later_command_say(&cmd, "HGET %s %s", found->keys.name[LATER_KEY_CRONTAB], name);
    reply = cli_call(cli, &cmd, err);
    text = later_reply_text(reply, len);
    *document = strstr(text, "\n\n");
    if (reply && *document) {
        *document += 2;
        *len -= (size_t)(*document - text);
        return reply;
    }
    if (reply)
        later_fail(err, LATER_E_NONE, "there is no schedule %s", name);
    later_reply_free(reply);
    return NULL;
}
