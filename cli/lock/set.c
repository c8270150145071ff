/* set.c: `later set` and `later unset`: other numbers for a configured limit, while it is in use.
 */
#include "commands.h"
#include "lasting.h"
#include "status/served.h"
#include "output/jsonl.h"
#include "queues/laid.h"
#include "see/marks.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What may be set: its word here, its kind in `needs`, and how its name in Redis begins. */
struct settable {
    const char *word, *kind, *prefix;
    bool per;
};

static const struct settable settables[] = {
    { "limit", "limit", LATER_OVERRIDE_LIMIT, true },
    { "max_running", "permit", LATER_OVERRIDE_PERMIT, false },
};
#define SETTABLES (sizeof settables / sizeof *settables)

/* One run of the commands. */
struct setting {
    const struct settable *what;
    const char *thing; /* its name there */
    char name[LATER_OVERRIDE_NAME];
    struct later_numbers numbers;
    double seconds; /* 0: until it is unset */
    char who[LASTING_WHO];
};

static int set_read_name(struct cli *cli, struct setting *setting, struct later_error *err)
{
    const char *const *words = (const char *const *)cli->args.words;

    for (size_t i = 0; i < SETTABLES; i++) {
        if (strcmp(words[0], settables[i].word) == 0)
            setting->what = &settables[i];
    }
    if (!setting->what)
        return later_fail(err, LATER_E_USAGE, "%.40s cannot be set: limit or max_running can",
                          words[0]);
    if (cli->args.count < 2)
        return later_fail(err, LATER_E_USAGE, "the name of the %s is missing: as in `later lock`",
                          words[0]);
    if (cli_check_name(words[1], err) < 0)
        return -1;
    setting->thing = words[1];
    snprintf(setting->name, sizeof setting->name, "%s%s", setting->what->prefix, words[1]);
    return 0;
}

static int set_read_numbers(const struct cli *cli, struct setting *setting, struct later_error *err)
{
    int64_t max = 0;

    if (cli_number(cli, "max", 1, 1000000, &max, err) < 0 ||
        cli_duration(cli, "per", &setting->numbers.per, err) < 0 ||
        lasting_for(cli, &setting->seconds, err) < 0)
        return -1;
    if (!max)
        return later_fail(err, LATER_E_USAGE, "--max N is required");
    setting->numbers.max = (uint32_t)max;
    if (!args_text(&cli->args, "per"))
        return 0;
    if (!setting->what->per)
        return later_fail(err, LATER_E_USAGE, "--per goes with a limit");
    if (!(setting->numbers.per >= 0.001 && setting->numbers.per <= 86400))
        return later_fail(err, LATER_E_USAGE, "--per: a millisecond to a day");
    return 0;
}

/* Without a laterd that has it in its configuration, nobody would go by the numbers. */
static int set_check_known(struct cli *cli, const struct setting *setting, struct later_error *err)
{
    struct served *served = served_read(cli, err);
    bool known = served && served_needs(served, setting->what->kind, setting->thing);

    if (!served)
        return -1;
    served_free(served);
    return known ? 0
                 : later_fail(err, LATER_E_NONE,
                              "no laterd that is alive has a %s %s in its configuration",
                              setting->what->word, setting->thing);
}

static void set_tell(struct cli *cli, const struct setting *setting, bool set, bool changed)
{
    if (cli->json) {
        jsonl_line(stdout, "kind:%s name:%s set:%c changed:%c", setting->what->word, setting->thing,
                   set, changed);
    } else if (!changed) {
        cli_say(cli, "%s %s was %s", setting->what->word, setting->thing,
                set ? "so already" : "not set");
    }
}

/* --- the list --- */

static void set_add_row(struct table *table, const struct settable *what, const char *thing,
                        const struct later_override *one, double now)
{
    struct later_numbers numbers;

    later_override_numbers(one->words, &numbers);
    table_text(table, PLAIN, what->word);
    table_text(table, PLAIN, thing);
    table_number(table, PLAIN, numbers.max);
    table_known_age(table, PLAIN, numbers.per > 0 ? numbers.per : -1);
    table_known_age(table, PLAIN, fmax(now - one->since, 0));
    table_known_age(table, PLAIN, one->until > 0 ? one->until - now : -1);
    table_text(table, PLAIN, text_known(one->who));
}

static int set_list(struct cli *cli, struct later_error *err)
{
    static const char *const headings[] = { "KIND", "NAME",  ">MAX", ">PER",
                                            ">FOR", ">LEFT", "BY",   NULL };
    struct later_numbers numbers;
    struct table table;
    struct laid laid;
    double now;

    if (laid_read_numbers(cli, &laid, err) < 0 || cli_clock(cli, &now, err) < 0)
        return -1;
    cli_table(cli, &table, headings);
    for (size_t i = 0; i < laid.count * SETTABLES; i++) {
        const struct later_override *one = &laid.list[i / SETTABLES];
        const struct settable *what = &settables[i % SETTABLES];
        size_t len = strlen(what->prefix);

        if (strncmp(one->name, what->prefix, len) != 0)
            continue;
        later_override_numbers(one->words, &numbers);
        if (cli->json)
            jsonl_line(stdout, "kind:%s name:%s max:%u per:%f by:%s since:%f until:%f", what->word,
                       one->name + len, numbers.max, text_known_time(numbers.per),
                       text_known(one->who), one->since, text_known_time(one->until));
        else
            set_add_row(&table, what, one->name + len, one, now);
    }
    table_end(&table);
    return LATER_OK;
}

/* --- the commands --- */

/* Lays it over, or takes it away. */
static int set_run_one(struct cli *cli, const struct setting *setting, bool set,
                       struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_keys keys;
    int64_t changed;

    later_keys_of_limits(&keys, later_call_prefix(cli->client));
    if (set)
        later_override_set(&cmd, &keys, setting->name, &setting->numbers, setting->seconds,
                           setting->who);
    else
        later_override_unset(&cmd, &keys, setting->name);
    changed = cli_count(cli_call(cli, &cmd, err));
    if (changed < 0)
        return -1;
    if (changed > 0)
        marks_note_set(cli, setting->name, set, setting->seconds);
    set_tell(cli, setting, set, changed > 0);
    return LATER_OK;
}

static bool set_has_options(const struct cli *cli)
{
    return args_text(&cli->args, "max") || args_text(&cli->args, "per") ||
           args_text(&cli->args, "for") || args_text(&cli->args, "by");
}

static int run_set(struct cli *cli, struct later_error *err)
{
    struct setting setting = { 0 };

    if (cli->args.count == 0 && set_has_options(cli))
        return later_fail(err, LATER_E_USAGE, "limit NAME or max_running NAME is missing");
    if (cli->args.count == 0)
        return set_list(cli, err);
    lasting_who(cli, setting.who);
    if (set_read_name(cli, &setting, err) < 0 || set_read_numbers(cli, &setting, err) < 0 ||
        !cli_client(cli, err) || set_check_known(cli, &setting, err) < 0)
        return -1;
    return set_run_one(cli, &setting, true, err);
}

static int run_unset(struct cli *cli, struct later_error *err)
{
    struct setting setting = { 0 };

    if (set_read_name(cli, &setting, err) < 0 || !cli_client(cli, err))
        return -1;
    return set_run_one(cli, &setting, false, err);
}

static const struct args_option set_options[] = {
    { "max", 0, "N", "how many" },
    { "per", 0, "DURATION", "of a limit: in this time (as configured)" },
    { "for", 0, "DURATION", "then the configured ones hold again (only by `later unset`)" },
    { "by", 0, "NAME", "who sets it, for the list (your login name)" },
    { 0 },
};

const struct command command_set = {
    .name = "set",
    .usage = "[limit|max_running NAME --max N [--per DURATION] [--for DURATION] [--by NAME]]",
    .brief = "Set other numbers for a limit or max_running, without a reload",
    .more =
        "NAME is as in `later lock`: type:mail.send, queue:mail; one that ends in = is for each\n"
        "value. All laterds go by it within about a second, also after a restart. Without words\n"
        "it lists what is set.\n",
    .example = "later set limit type:sms --max 5 --per 1m --for 1h\n"
               "later set max_running queue:mail --max 2\nlater set\n",
    .options = set_options,
    .max = 2,
    .run = run_set,
};

const struct command command_unset = {
    .name = "unset",
    .usage = "limit|max_running NAME",
    .brief = "Let the configured numbers hold again",
    .example = "later unset limit type:sms\n",
    .min = 2,
    .max = 2,
    .run = run_unset,
};
