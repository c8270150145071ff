/* cron.c: `later cron`: which verb is meant. */
#include "cron/cron.h"

#include "commands.h"

#include <string.h>

static const struct {
    const char *name;
    cron_verb_fn *run;
    int min, max; /* words behind it */
    const char *needs;
} verbs[] = {
    { "next", cron_next, 1, 1, "next needs an EXPRESSION, in quotes" },
};
#define VERBS (sizeof verbs / sizeof *verbs)

static int run_cron(struct cli *cli, struct later_error *err)
{
    const char *names[VERBS], *word = cli->args.words[0], *nearest;
    int count = cli->args.count - 1;

    for (size_t i = 0; i < VERBS; i++) {
        names[i] = verbs[i].name;
        if (strcmp(word, names[i]) != 0)
            continue;
        if (count < verbs[i].min || count > verbs[i].max)
            return later_fail(err, LATER_E_USAGE, "%s", verbs[i].needs);
        return verbs[i].run(cli, cli->args.words + 1, count, err);
    }
    nearest = args_nearest(word, names, VERBS);
    return later_fail(err, LATER_E_USAGE, "no verb %.40s%s%s%s", word,
                      nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

static const struct args_option cron_options[] = {
    { "zone", 0, "ZONE", "whose clocks count, as Europe/Berlin (UTC)" },
    { "from", 0, "TIME", "next: the ticks after this time (now)" },
    { "count", 'n', "N", "next: so many (5)" },
    { 0 },
};

const struct command command_cron = {
    .name = "cron",
    .usage = "next EXPRESSION [OPTIONS]",
    .brief = "Show when an expression of cron is due",
    .more = "EXPRESSION, in quotes: minute hour day month weekday; with six fields the second\n"
            "first; or @hourly, @daily, @weekly, @monthly, @yearly, @every 90s. Besides what\n"
            "crontab(5) has: L, L-3, 15W, LW as days, mon#2, mon#-1, 5L as weekdays, ranges\n"
            "that wrap. Where clocks are changed cron's rules hold. Redis is not asked.\n",
    .example = "later cron next '0 3 * * mon-fri' --zone Europe/Berlin\n"
               "later cron next '30 23 LW * *' -n 12 --json\n",
    .options = cron_options,
    .min = 1,
    .max = -1,
    .run = run_cron,
};
