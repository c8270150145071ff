/* cron_find.c: finds a schedule by its name. */
#include "cron/cron.h"

#include "queue_list.h"

#include <stdio.h>

int cron_look(struct cli *cli, const char *queue, const char *name, struct cron_found *found,
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

static int cron_find_look_everywhere(struct cli *cli, const char *name, struct cron_found *found,
                                     struct later_error *err)
{
    struct queue_list list = { 0 };
    int count = 0, status = queue_list_known(cli, &list, err);

    for (size_t i = 0; status >= 0 && i < list.count; i++) {
        struct cron_found one;

        status = cron_look(cli, list.names[i], name, &one, err);
        if (status <= 0)
            continue;
        *found = one;
        count++;
    }
    queue_list_free(&list);
    if (status < 0)
        return -1;
    if (count > 1)
        return later_fail(err, LATER_E_USAGE,
                          "several queues have a schedule %s; say which with -q", name);
    return count;
}

int cron_find(struct cli *cli, const char *name, struct cron_found *found, struct later_error *err)
{
    const char *queue = args_text(&cli->args, "queue");
    int status;

    if (!later_schedule_name_valid(name))
        return later_fail(err, LATER_E_USAGE, "%.80s is not the name of a schedule", name);
    status = queue ? cron_look(cli, queue, name, found, err)
                   : cron_find_look_everywhere(cli, name, found, err);
    if (status == 0)
        return later_fail(err, LATER_E_NONE, "there is no schedule %s%s%s", name,
                          queue ? " in queue " : "", queue ? queue : "");
    return status < 0 ? -1 : 0;
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
