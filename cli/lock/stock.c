/* stock.c: `later stock`. */
#include "queue/stock.h"

#include "commands.h"
#include "output/jsonl.h"
#include "redis/script.h"
#include "text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- each verb: encode, call, tell --- */

static int stock_set(struct cli *cli, char **words, struct later_error *err)
{
    const char *item = words[0];
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    int64_t total;

    if (text_number(words[1], "N", 0, 999999999999999, &total, err) < 0)
        return -1;
    later_stock_set(&cmd, later_call_prefix(cli->client), item, (uint64_t)total);
    reply = cli_call(cli, &cmd, err);
    if (!reply)
        return -1;
    if (cli->json)
        jsonl_line(stdout, "item:%s total:%jd left:%jd", item, total, later_reply_int(reply));
    else
        printf("%" PRId64 "%s\n", later_reply_int(reply), cli->out_terminal ? " left" : "");
    later_reply_free(reply);
    return LATER_OK;
}

static void tell_claim(const struct cli *cli, const char *item, const char *who, const char *result,
                       uint64_t number)
{
    if (!cli->json) {
        if (number)
            printf("%" PRIu64 "\n", number);
        return;
    }
    jsonl_line(stdout, "item:%s who:%s result:%s number:%f", item, who, result,
               number ? (double)number : NAN);
}

static int claim(struct cli *cli, char **words, struct later_error *err)
{
    const char *item = words[0], *who = words[1];
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    enum later_stock_taken how;
    uint64_t number = 0;

    later_stock_take(&cmd, later_call_prefix(cli->client), item, who);
    reply = cli_call(cli, &cmd, err);
    if (!reply)
        return -1;
    how = later_stock_taken(reply, &number);
    later_reply_free(reply);
    if (how == LATER_STOCK_SOLD_OUT) {
        tell_claim(cli, item, who, "sold_out", 0);
        cli_say(cli, "%s is sold out", item);
        return LATER_E_LATER;
    }
    tell_claim(cli, item, who, how == LATER_STOCK_HELD ? "held" : "claimed", number);
    if (how == LATER_STOCK_HELD)
        cli_say(cli, "%s had claimed %s before", who, item);
    return LATER_OK;
}

static int release(struct cli *cli, char **words, struct later_error *err)
{
    const char *item = words[0], *who = words[1];
    struct later_command cmd = { 0 };
    int64_t had;

    later_stock_give_back(&cmd, later_call_prefix(cli->client), item, who);
    had = cli_count(cli_call_once(cli, &cmd, err));
    if (had < 0)
        return -1;
    if (had == 0)
        return later_fail(err, LATER_E_NONE, "%.80s has no claim on %.80s", who, item);
    if (cli->json)
        jsonl_line(stdout, "item:%s who:%s result:released", item, who);
    return LATER_OK;
}

static void tell_stock(const struct cli *cli, const char *item, const struct later_reply *reply)
{
    static const char *const headings[] = { "ITEM", ">TOTAL", ">CLAIMED", ">LEFT", NULL };
    struct table table;
    int64_t numbers[3];

    for (size_t i = 0; i < 3; i++)
        numbers[i] = later_reply_int(later_reply_at(reply, i));
    if (cli->json) {
        jsonl_line(stdout, "item:%s total:%jd claimed:%jd left:%jd", item, numbers[0], numbers[1],
                   numbers[2]);
        return;
    }
    cli_table(cli, &table, headings);
    table_text(&table, PLAIN, item);
    for (size_t i = 0; i < 3; i++)
        table_number(&table, PLAIN, (uint64_t)numbers[i]);
    table_end(&table);
}

static int stock_show(struct cli *cli, char **words, struct later_error *err)
{
    const char *item = words[0];
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    int status = LATER_OK;

    later_stock_look(&cmd, later_call_prefix(cli->client), item);
    reply = cli_call(cli, &cmd, err);
    if (!reply)
        return -1;
    if (later_reply_count(reply) == 0)
        status = later_fail(err, LATER_E_NONE,
                            "no stock of %.80s was ever set; `later stock set` does", item);
    else
        tell_stock(cli, item, reply);
    later_reply_free(reply);
    return status;
}

/* --- the command --- */

static const struct cli_verb verbs[] = {
    { "set", 2, 2, "ITEM and N", stock_set },
    { "claim", 2, 2, "ITEM and WHO", claim },
    { "release", 2, 2, "ITEM and WHO", release },
    { "show", 1, 1, "an ITEM", stock_show },
};

static int stock_run(struct cli *cli, struct later_error *err)
{
    const struct cli_verb *verb = cli_verb(cli, verbs, sizeof verbs / sizeof *verbs, err);

    for (int i = 1; verb && i < cli->args.count; i++) {
        if (cli_check_name(cli->args.words[i], err) < 0)
            return -1;
    }
    return verb && cli_client(cli, err) ? verb->run(cli, cli->args.words + 1, err) : -1;
}

const struct command command_stock = {
    .name = "stock",
    .usage = "set ITEM N | claim ITEM WHO | release ITEM WHO | show ITEM",
    .brief = "Claim one of N, never more than N",
    .more = "Prints the number of the claim. Each claimant has one claim, and gets the same one "
            "again.\n"
            "The status is 75 if the item is sold out.\n",
    .example = "later stock set ticket 100\nlater stock claim ticket alice\n",
    .max = 3,
    .run = stock_run,
};
