/* limit.c: `later limit`. */
#include "base/clock.h"
#include "commands.h"
#include "output/jsonl.h"
#include "redis/script.h"
#include "queue/stock.h"
#include "text.h"

#include <stdio.h>
#include <string.h>

struct limit_order {
    const char *name;
    int64_t max;
    double per, wait; /* seconds */
    bool sliding;
};

static int limit_read_order(const struct cli *cli, struct limit_order *order,
                            struct later_error *err)
{
    const char *window = args_text(&cli->args, "window");

    *order = (struct limit_order){ .name = cli->args.words[0], .sliding = true };
    if (cli_check_name(order->name, err) < 0 ||
        cli_number(cli, "max", 1, 1000000000, &order->max, err) < 0 ||
        cli_duration(cli, "per", &order->per, err) < 0 ||
        cli_duration(cli, "wait", &order->wait, err) < 0)
        return -1;
    if (!order->max || !args_text(&cli->args, "per"))
        return later_fail(err, LATER_E_USAGE, "--max N and --per DURATION are required");
    if (order->per < 0.001)
        return later_fail(err, LATER_E_USAGE, "--per: at least 0.001 seconds");
    if (window && strcmp(window, "sliding") != 0 && strcmp(window, "fixed") != 0)
        return later_fail(err, LATER_E_USAGE, "--window: %.40s is not one of fixed, sliding",
                          window);
    order->sliding = !window || window[0] == 's';
    return 0;
}

/* Asks once. Returns the seconds until it may happen, 0 if it may now, or -1 with *err. The
 * question is not repeated after a lost answer, since it might count twice. */
static double limit_ask(struct cli *cli, const struct limit_order *order, struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    double wait;

    later_limit_ask(&cmd, later_call_prefix(cli->client), order->name, (uint32_t)order->max,
                    order->per, order->sliding);
    reply = cli_call_once(cli, &cmd, err);
    if (!reply && strstr(err->text, "WRONGTYPE"))
        return later_fail(err, LATER_E_DATA, "%.80s is in use with the other --window",
                          order->name);
    if (!reply)
        return -1;
    wait = later_limit_wait(reply);
    later_reply_free(reply);
    return wait;
}

/* Redis's answer is exact, so it is enough to sleep that long plus a millisecond and ask again. If
 * many wait, somebody else may then have been faster. */
static double ask_and_wait(struct cli *cli, const struct limit_order *order,
                           struct later_error *err)
{
    double until = later_clock() + order->wait, left;

    while ((left = limit_ask(cli, order, err)) > 0 && later_clock() + left + 0.001 <= until)
        later_sleep(left + 0.001);
    return left;
}

static void limit_tell(const struct cli *cli, const struct limit_order *order, double left)
{
    char seconds[40];

    if (!cli->json) {
        puts(text_put_real(seconds, sizeof seconds, left));
        return;
    }
    jsonl_line(stdout, "limit:%s allowed:%c wait:%f", order->name, left <= 0, left);
}

static int limit_run(struct cli *cli, struct later_error *err)
{
    struct limit_order order;
    double left;

    if (limit_read_order(cli, &order, err) < 0 || !cli_client(cli, err))
        return -1;
    left = ask_and_wait(cli, &order, err);
    if (left < 0)
        return -1;
    limit_tell(cli, &order, left);
    return left > 0 ? LATER_E_LATER : LATER_OK;
}

static const struct args_option options[] = {
    { "max", 0, "N", "how often it may happen" },
    { "per", 0, "DURATION", "in this time" },
    { "window", 0, "WINDOW", "sliding (default): in any span of that length; or fixed" },
    { "wait", 'w', "DURATION", "wait until it may, at most this long (0)" },
    { 0 },
};

const struct command command_limit = {
    .name = "limit",
    .usage = "KEY --max N --per DURATION [--window fixed|sliding] [-w DURATION]",
    .brief = "Ask whether something may happen now, at most N times in a period",
    .more =
        "The status is 0 if it may, and it has then been counted; 75 if it may not. Prints the\n"
        "seconds until it may, 0 for now. A fixed window opens when it first happens, and lets up\n"
        "to twice as many through around its end; a sliding one never does.\n",
    .example = "later limit sms --max 3 --per 10 && ./send-sms\n",
    .options = options,
    .min = 1,
    .max = 1,
    .run = limit_run,
};
