/* stock.c: `later stock`. */
#include "queue/stock.h"

#include "commands.h"
#include "output/jsonl.h"
#include "redis/script.h"
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- each verb: encode, call, tell --- */

typedef int verb_fn(struct cli *cli, const char *item, const char *word, struct later_error *err);

static int stock_set(struct cli *cli, const char *item, const char *word, struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    int64_t total;
    struct jsonl json;

    if (text_number(word, "N", 0, 999999999999999, &total, err) < 0)
        return -1;
    later_stock_set(&cmd, later_call_prefix(cli->client), item, (uint64_t)total);
    reply = cli_call(cli, &cmd, err);
    if (!reply)
        return -1;
    if (cli->json) {
        jsonl_begin(&json, stdout);
        jsonl_text(&json, "item", item);
        jsonl_int(&json, "total", total);
        jsonl_int(&json, "left", later_reply_int(reply));
        jsonl_end(&json);
    } else {
        printf("%" PRId64 "%s\n", later_reply_int(reply), cli->out_terminal ? " left" : "");
    }
    later_reply_free(reply);
    return LATER_OK;
}

static void tell_claim(const struct cli *cli, const char *item, const char *who, const char *result,
                       uint64_t number)
{
    struct jsonl json;

    if (!cli->json) {
        if (number)
            printf("%" PRIu64 "\n", number);
        return;
    }
    jsonl_begin(&json, stdout);
    jsonl_text(&json, "item", item);
    jsonl_text(&json, "who", who);
    jsonl_text(&json, "result", result);
    jsonl_known(&json, "number", number, (double)number);
    jsonl_end(&json);
}

static int claim(struct cli *cli, const char *item, const char *who, struct later_error *err)
{
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

static int release(struct cli *cli, const char *item, const char *who, struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct jsonl json;
    int64_t had;

    later_stock_give_back(&cmd, later_call_prefix(cli->client), item, who);
    had = cli_count(cli_call_once(cli, &cmd, err));
    if (had < 0)
        return -1;
    if (had == 0)
        return later_fail(err, LATER_E_NONE, "%.80s has no claim on %.80s", who, item);
    if (cli->json) {
        jsonl_begin(&json, stdout);
        jsonl_text(&json, "item", item);
        jsonl_text(&json, "who", who);
        jsonl_text(&json, "result", "released");
        jsonl_end(&json);
    }
    return LATER_OK;
}

static void tell_stock(const struct cli *cli, const char *item, const struct later_reply *reply)
{
    static const char *const headings[] = { "ITEM", ">TOTAL", ">CLAIMED", ">LEFT", NULL };
    static const char *const names[] = { "total", "claimed", "left" };
    struct table table;
    struct jsonl json;

    if (cli->json) {
        jsonl_begin(&json, stdout);
        jsonl_text(&json, "item", item);
        for (size_t i = 0; i < 3; i++)
            jsonl_int(&json, names[i], later_reply_int(later_reply_at(reply, i)));
        jsonl_end(&json);
        return;
    }
    cli_table(cli, &table, headings);
    table_text(&table, PLAIN, item);
    for (size_t i = 0; i < 3; i++)
        table_number(&table, PLAIN, (uint64_t)later_reply_int(later_reply_at(reply, i)));
    table_end(&table);
}

static int stock_show(struct cli *cli, const char *item, const char *word, struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    int status = LATER_OK;

    (void)word;
    later_stock_look(&cmd, later_call_prefix(cli->client), item);
    reply = cli_call(cli, &cmd, err);
    if (!reply)
        return -1;
    if (later_reply_count(reply) == 0)
        status = later_fail(err, LATER_E_NONE, "no stock of %.80s was ever set", item);
    else
        tell_stock(cli, item, reply);
    later_reply_free(reply);
    return status;
}

/* --- the command --- */

static const struct {
    const char *name, *word; /* the word after the item; NULL = none */
    verb_fn *run;
} verbs[] = {
    { "set", "N", stock_set },
    { "claim", "WHO", claim },
    { "release", "WHO", release },
    { "show", NULL, stock_show },
};
#define VERBS (sizeof verbs / sizeof *verbs)

static int refuse_verb(const char *verb, struct later_error *err)
{
    const char *names[VERBS], *nearest;

    for (size_t i = 0; i < VERBS; i++)
        names[i] = verbs[i].name;
    nearest = args_nearest(verb, names, VERBS);
    return later_fail(err, LATER_E_USAGE, "no stock %.40s; did you mean %s?", verb,
                      nearest ? nearest : "set, claim, release or show");
}

static int stock_run(struct cli *cli, struct later_error *err)
{
    char **words = cli->args.words;
    int count = cli->args.count;
    size_t v = 0;

    while (v < VERBS && strcmp(words[0], verbs[v].name) != 0)
        v++;
    if (v == VERBS)
        return refuse_verb(words[0], err);
    if (count != (verbs[v].word ? 3 : 2))
        return later_fail(err, LATER_E_USAGE, "usage: later stock %s ITEM%s%s", verbs[v].name,
                          verbs[v].word ? " " : "", verbs[v].word ? verbs[v].word : "");
    for (int i = 1; i < count; i++) {
        if (cli_check_name(words[i], err) < 0)
            return -1;
    }
    if (!cli_client(cli, err))
        return -1;
    return verbs[v].run(cli, words[1], count > 2 ? words[2] : NULL, err);
}

const struct command command_stock = {
    .name = "stock",
    .usage = "set ITEM N | claim ITEM WHO | release ITEM WHO | show ITEM",
    .brief = "Claim one of N, never more than N",
    .more = "Prints the number of the claim. Each claimant has one claim, and gets the same one "
            "again.\n"
            "The status is 75 if the item is sold out.\n",
    .example = "later stock set ticket 100\nlater stock claim ticket alice\n",
    .min = 1,
    .max = 3,
    .run = stock_run,
};
