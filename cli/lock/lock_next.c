/* lock_next.c: lets the next job have a free lock. */
#include "lock/lock_next.h"

#include "queue/permit.h"
#include "redis/script.h"

#include <stdio.h>
#include <string.h>

#define TRIES 100 /* jobs in the line that no longer exist, and are skipped */

/* Takes the job that has waited longest out of the line: member becomes "QUEUE ID", and *due its
 * due time. Returns false if none waits, or if Redis does not answer. */
static bool take_next(struct cli *cli, const char *name, char *member, size_t room, double *due)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    struct later_error ignored;
    bool any;

    later_permit_line(&cmd, later_call_prefix(cli->client), true, name, 1, 0, "");
    reply = cli_call_once(cli, &cmd, &ignored);
    any = later_permit_called(reply) > 0;
    if (any)
        snprintf(member, room, "%s", later_permit_next(reply, 0, due));
    later_reply_free(reply);
    return any;
}

/* Returns false if the job no longer waits. */
static bool hasten(struct cli *cli, char *member, double due)
{
    char *id = strchr(member, ' ');
    struct later_command cmd = { 0 };
    struct later_keys keys;
    struct later_error ignored;

    if (!id)
        return false;
    *id++ = '\0';
    if (cli_keys(cli, member, &keys, &ignored) < 0)
        return false;
    later_permit_hasten(&cmd, &keys, due, id);
    return cli_count(cli_call_once(cli, &cmd, &ignored)) != 0;
}

void lock_call_next(struct cli *cli, const char *name)
{
    char member[LATER_QUEUE_MAX + LATER_KEY_MAX];
    double due;

    for (int i = 0; i < TRIES && take_next(cli, name, member, sizeof member, &due); i++) {
        if (hasten(cli, member, due))
            return;
    }
}
