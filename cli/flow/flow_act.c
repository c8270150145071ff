/* flow_act.c: finds flows and their jobs. */
#include "flow/flow.h"

#include "queue_list.h"

#include <stdio.h>
#include <string.h>

int flow_look(struct cli *cli, const char *name, struct flow_found *found, struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;

    later_flow_look(&cmd, &found->keys, name);
    reply = cli_call(cli, &cmd, err);
    if (!reply)
        return -1;
    later_flow_looked(reply, &found->sizes);
    later_reply_free(reply);
    return found->sizes.exists;
}

int flow_find(struct cli *cli, const char *name, struct flow_found *found, struct later_error *err)
{
    struct queue_list list = { 0 };
    int count = 0, ok;

    if (!later_key_queue_valid(name))
        return later_fail(err, LATER_E_USAGE, "%.70s is not the name of a flow", name);
    ok = queue_list_asked(cli, &list, err);
    for (size_t i = 0; ok >= 0 && i < list.count; i++) {
        struct flow_found one;

        ok = cli_keys(cli, list.names[i], &one.keys, err);
        if (ok == 0)
            ok = flow_look(cli, name, &one, err);
        if (ok > 0 && count++ == 0)
            *found = one;
    }
    queue_list_free(&list);
    if (ok < 0)
        return -1;
    if (count == 0)
        queue_list_warn(cli, args_text(&cli->args, "queue"));
    if (count == 0)
        return later_fail(err, LATER_E_NONE, "no flow %s", name);
    return count == 1
               ? 0
               : later_fail(err, LATER_E_USAGE, "%d queues have a flow %s; use -q Q", count, name);
}

int flow_each(struct cli *cli, const struct later_keys *keys, const char *name, flow_member_fn *fn,
              void *arg, struct later_error *err)
{
    char cursor[24] = "0";
    int told = 0;

    do {
        struct later_command cmd = { 0 };
        struct later_reply *reply;
        const struct later_reply *fields;

        later_flow_scan(&cmd, keys, name, cursor);
        reply = cli_call(cli, &cmd, err);
        if (!reply)
            return -1;
        snprintf(cursor, sizeof cursor, "%.20s", later_reply_text_at(reply, 0));
        fields = later_reply_at(reply, 1);
        for (size_t i = 0; told == 0 && i + 1 < later_reply_count(fields); i += 2) {
            struct later_flow_member member;

            if (later_flow_member(later_reply_text_at(fields, i),
                                  later_reply_text_at(fields, i + 1), &member))
                told = fn(arg, &member);
        }
        later_reply_free(reply);
    } while (told == 0 && strcmp(cursor, "0") != 0);
    return told;
}
