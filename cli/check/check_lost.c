/* check_lost.c: has a laterd noticed that Redis has lost writes? */
#include "check/check.h"

#include "output/jsonl.h"
#include "queue/lost.h"
#include "text.h"

#include <inttypes.h>

static void check_lost_tell_row(struct table *table, const struct later_lost *lost)
{
    char at[32];

    table_text(table, PLAIN, lost->queue);
    table_text(table, PLAIN, "lost");
    table_text(table, RED, "VIOLATED");
    table_print(table, PLAIN,
                "Redis has lost writes: %" PRIu64 " jobs had been %s, then %" PRIu64
                "; noticed %s by laterd on %s",
                lost->before, later_sum_words(lost->sum), lost->after,
                text_put_time(at, sizeof at, lost->at), lost->host);
}

static int acknowledge(struct cli *cli, struct later_error *err)
{
    struct later_command cmd = { 0 };

    later_lost_drop(&cmd, later_call_prefix(cli->client));
    return cli_count(cli_call(cli, &cmd, err)) < 0 ? -1 : 0;
}

int check_lost(struct cli *cli, const struct queue_list *queues, struct table *table,
               struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    int status = LATER_OK;

    later_lost_look(&cmd, later_call_prefix(cli->client));
    reply = cli_call(cli, &cmd, err);
    if (!reply)
        return err->code == LATER_E_TOKEN ? LATER_OK : -1;
    for (size_t i = 0; i < later_reply_count(reply) / 2; i++) {
        struct later_lost lost;

        if (!later_lost_read(reply, i, &lost) || (queues && !queue_list_has(queues, lost.queue)))
            continue;
        status = 1;
        if (cli->json)
            jsonl_line(stdout,
                       "queue:%s check:lost ok:%c counter:%s before:%ju after:%ju at:%f host:%s",
                       lost.queue, false, later_sum_name(lost.sum), lost.before, lost.after,
                       lost.at, lost.host);
        else
            check_lost_tell_row(table, &lost);
    }
    later_reply_free(reply);
    if (args_flag(&cli->args, "acknowledge") && acknowledge(cli, err) < 0)
        return -1;
    return status;
}
